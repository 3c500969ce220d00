"""Private NumPy API that the runtime uses, with a public fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_settings = getattr(getattr(getattr(np, "_core", None), "umath", None), "_extobj_contextvar", None)


def _public_settings() -> Any:
    return str(np.geterr())


float_errors: Callable[[], Any] = _public_settings if _settings is None else _settings.get
"""What NumPy does here about errors of floats, to be compared: one object while nobody has set it."""
