"""Draws from the user's generators of random numbers, before a program runs."""
