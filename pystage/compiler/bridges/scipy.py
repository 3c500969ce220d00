"""SciPy: functions that JAX has too are staged (`library/scipy/`); its compiled code is refused, with advice."""

from __future__ import annotations

from ..library.rules.foreign import Advice
from ..policy import Package, Policy
from .bridge import Bridge

SCIPY = Bridge(
    Package("scipy", Policy.OPAQUE, constants=True),
    tested="1.17",
    meanings={
        "scipy.special": "library.scipy.twins:declare_special",
        "scipy.linalg": "library.scipy.twins:declare_linalg",
        "scipy.stats": "bridges.scipy_stats:declare_stats",
    },
    advice={
        "scipy.optimize": Advice(
            "SciPy calls the function back from compiled code",
            "stage the objective, with `pystage.value_and_grad`, and give it to SciPy outside "
            "(`minimize(fg, x, jac=True)`), or write the iteration as a loop",
        ),
        "scipy.integrate": Advice(
            "SciPy calls the function back from compiled code",
            "stage the right-hand side and give it to SciPy outside, or write the steps as a loop (Runge–Kutta)",
        ),
        "scipy.interpolate": Advice(
            "it calls compiled code of SciPy", "use `np.interp`, or evaluate outside"
        ),
        "scipy.sparse": Advice(
            "sparse matrices are objects of SciPy",
            "pass `a.data`, `a.indices` and `a.indptr` in, and loop over the rows",
        ),
        "scipy.spatial": Advice(
            "it calls compiled code of SciPy", "for distances: `np.sqrt(((a[:, None] - b) ** 2).sum(-1))`"
        ),
        "scipy.stats": Advice(
            "it calls compiled code of SciPy",
            "use `jax.scipy.stats`, write the density out, or call it outside",
        ),
        "scipy.signal": Advice(
            "it calls compiled code of SciPy", "use `np.convolve`, `jax.scipy.signal`, or a loop"
        ),
        "scipy.linalg": Advice("it calls compiled code of SciPy", "use `np.linalg` or `jax.scipy.linalg`"),
        "scipy.special": Advice(
            "it calls compiled code of SciPy", "use `jax.scipy.special`, or `math` for numbers"
        ),
        "scipy.ndimage": Advice(
            "it calls compiled code of SciPy", "write the stencil with slices, or `jax.scipy.ndimage`"
        ),
        "scipy.fft": Advice("it calls compiled code of SciPy", "use `np.fft`, which gives the same"),
        "scipy": Advice(
            "it calls compiled code of SciPy", "use `jax.scipy` where it has the function, or call it outside"
        ),
    },
)
