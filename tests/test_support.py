"""`docs/support.md` says what is true: of every function of the known namespaces whether it is staged."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np

SCRIPT = Path(__file__).parents[1] / "docs" / "generate_support.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_support", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date() -> None:
    """`python docs/generate_support.py` writes it anew.

    With other versions of NumPy or JAX than the page was made with, functions may be missing or new.
    """
    support = load()
    text = support.PAGE.read_text()
    if support.versions() in text:
        assert text == support.page()
        return
    now, then = support.statuses(), support.written(text)
    differing = {name for name in now.keys() & then.keys() if now[name][0] != then[name]}
    assert not differing


def test_what_is_written_is_read_back() -> None:
    support = load()
    now = {name: kind for name, (kind, _) in support.statuses().items()}
    assert support.written(support.page()) == now
    assert now["numpy.sum"] == support.STAGED
    assert now["jax.numpy.linalg.qr"] == support.THROUGH_JAX
    assert now["numpy.packbits"] == support.NOT
    assert support.status(np.packbits)[1]
