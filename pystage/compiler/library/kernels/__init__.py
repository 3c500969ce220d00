"""Computations on program values that meanings of several libraries share."""
