"""Parts of meanings, on values of the program: they are called by several libraries' functions."""
