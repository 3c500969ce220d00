"""`python -m pystage` is the command `pystage`."""

import sys

from pystage.cli import main

sys.exit(main())
