"""`x[…]`, `x[…] = v`, and the functions that gather elements and scatter them."""
