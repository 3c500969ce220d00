"""The signature of a function: the positions of its parameters in a call."""

from __future__ import annotations


class Signature:
    """The positions of the staged function's parameters in a canonical call (`targets.Calling`)."""

    __slots__ = ("keyword_only", "keywords", "names", "positional", "var_keyword", "var_positional")

    def __init__(
        self,
        names: tuple[str, ...],
        positional: int,
        keywords: tuple[str, ...],
        var_positional: str | None,
        var_keyword: str | None,
        keyword_only: tuple[str, ...] = (),
    ) -> None:
        self.names = names
        """The parameters that may be passed by position."""
        self.positional = positional
        """How many arguments are passed by position."""
        self.keywords = keywords
        """The names of those passed by keyword."""
        self.var_positional = var_positional
        self.var_keyword = var_keyword
        self.keyword_only = keyword_only

    def argument(self, name: str) -> str:
        """A Python expression for the parameter `name` in terms of `args` and `kwargs`."""
        if name in self.names[: self.positional]:
            return f"args[{self.names.index(name)}]"
        if name == self.var_positional:
            return f"args[{len(self.names)}:]"
        if name == self.var_keyword:
            extra = [k for k in self.keywords if k not in self.names and k not in self.keyword_only]
            return "{" + ", ".join(f"{k!r}: kwargs[{k!r}]" for k in extra) + "}"
        return f"kwargs[{name!r}]"
