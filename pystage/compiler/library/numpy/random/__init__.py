"""`numpy.random`: the host draws, the program takes what was drawn."""
