"""Tests of products, decompositions, convolutions and Fourier transforms."""
