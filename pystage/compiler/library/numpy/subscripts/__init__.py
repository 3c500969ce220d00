"""Subscripts of arrays, stores through them, `x.flat`, structured arrays."""
