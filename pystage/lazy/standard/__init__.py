"""The functions of the Python Array API standard 2024.12 on lazy tensors, one module for each of its chapters.

`pystage.lazy` exports them, and is the namespace that `LazyTensor.__array_namespace__` gives. They check their operands
by the standard's rules and then record NumPy's function of the same meaning: operands that the standard does not allow
raise TypeError here, even where NumPy allows them.
"""
