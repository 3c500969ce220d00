"""What a user can set for all of pystage: `pystage.config`."""

from __future__ import annotations


class Config:
    """Settings of pystage, read when a function is compiled, and compared at each call that depends on them.

    `check_bounds`: whether an index of an ndarray, a list or a tuple that is computed at run time, and that is
    not certainly inside, is checked. With False, such an index that is outside reads or writes at the edge,
    where the plain run raises IndexError. TypeError for a value that is not a bool.
    """

    def __init__(self) -> None:
        self._check_bounds = True

    @property
    def check_bounds(self) -> bool:
        """Whether computed indices are checked; True unless it was set."""
        return self._check_bounds

    @check_bounds.setter
    def check_bounds(self, value: bool) -> None:
        if type(value) is not bool:
            raise TypeError(f"check_bounds must be True or False, not {value!r}")
        self._check_bounds = value

    def __repr__(self) -> str:
        return f"<pystage.config check_bounds={self.check_bounds}>"


config = Config()
"""The settings; there is one of them."""
