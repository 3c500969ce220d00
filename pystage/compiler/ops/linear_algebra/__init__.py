"""Products, decompositions, convolutions and Fourier transforms."""
