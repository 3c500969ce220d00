"""The engine: the context of library functions, and the environment that a program reads."""
