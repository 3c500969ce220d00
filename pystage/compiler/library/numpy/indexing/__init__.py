"""`x[…]`, `x[…] = v`, and the functions that take from and store to places."""
