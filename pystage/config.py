"""What a user can set for all of pystage: `pystage.config`."""

from __future__ import annotations


class Config:
    """Settings of pystage, read when a function is compiled, and compared at each call that depends on them.

    `check_bounds`: whether an index of an ndarray, a list or a tuple that is computed at run time, and that is
    not certainly inside, is checked. With False, such an index that is outside reads or writes at the edge,
    where the plain run raises IndexError. TypeError for a value that is not a bool.

    `residual_bytes`: how much memory the way back through one loop of known length may take for what it keeps of
    every trip (a gibibyte); past it the loop keeps its state at a few places and runs again from these, as loops
    of unknown length do. A Jacobian takes as many directions at once as fit into it. TypeError for a value that
    is not an int, ValueError below 0.
    """

    def __init__(self) -> None:
        self._check_bounds = True
        self._residual_bytes = 1 << 30

    @property
    def check_bounds(self) -> bool:
        """Whether computed indices are checked; True unless it was set."""
        return self._check_bounds

    @check_bounds.setter
    def check_bounds(self, value: bool) -> None:
        if type(value) is not bool:
            raise TypeError(f"check_bounds must be True or False, not {value!r}")
        self._check_bounds = value

    @property
    def residual_bytes(self) -> int:
        """How many bytes one loop may keep for its way back; 2**30 unless it was set."""
        return self._residual_bytes

    @residual_bytes.setter
    def residual_bytes(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(f"residual_bytes must be an int, not {value!r}")
        if value < 0:
            raise ValueError(f"residual_bytes must not be negative: {value}")
        self._residual_bytes = value

    def __repr__(self) -> str:
        return f"<pystage.config check_bounds={self.check_bounds} residual_bytes={self.residual_bytes}>"


config = Config()
"""The settings; there is one of them."""
