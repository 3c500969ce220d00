"""What the host does while a program runs, or before it: calls of NumPy, printing, draws."""
