"""`python -m pystage` is the command `pystage`."""

import sys

from .cli import main

sys.exit(main())
