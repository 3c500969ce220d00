"""`x[…]`, `x[…] = v`, and functions that gather and scatter elements."""
