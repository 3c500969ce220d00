"""Exceptions of the run time: raised, caught, made again."""
