"""Imports every module of the package, which declares every meaning (`registry.meaning`)."""

import importlib
import pkgutil

from .. import library

for _module in pkgutil.walk_packages(library.__path__, library.__name__ + "."):
    importlib.import_module(_module.name)
