"""Python's containers and iterators as plain programs, which are staged (`kernels/python_implementations.py`).

A module here is named as the module or class of Python's library whose functions and methods it holds. `composed` declares
a program as the meaning of a function. Other programs are run by the meanings in `python/`, where only the run knows the
structure of the arguments. `primitives.py` has what programs call beside Python itself.
"""
