"""What known Python functions mean, in terms of HLO operations.

Importing the package imports all its modules, and with them declares every meaning (`registry.meaning`).
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__, __name__ + "."):
    importlib.import_module(_module.name)
