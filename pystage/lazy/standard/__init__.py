"""The functions of the Python Array API standard 2024.12 on lazy tensors, a module for each of its chapters.

`pystage.lazy` exports them, and is the namespace that `LazyTensor.__array_namespace__` gives. They check their operands
by the standard's rules, and then record NumPy's function of the same meaning: what a kind of operands has no meaning for
in the standard is a TypeError here, also where NumPy has one.
"""
