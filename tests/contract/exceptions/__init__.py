"""Exceptions that the program raises, handles and looks at."""
