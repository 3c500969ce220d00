"""Importing this declares every meaning that the library has."""

from __future__ import annotations

import importlib
import pkgutil

import pystage.compiler.library

for module in pkgutil.iter_modules(pystage.compiler.library.__path__, "pystage.compiler.library."):
    importlib.import_module(module.name)
