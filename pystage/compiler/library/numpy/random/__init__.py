"""`numpy.random`: the host draws, and the program takes the drawn numbers as inputs."""
