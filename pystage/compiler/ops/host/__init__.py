"""Operations of the host, while a program runs or before it: calls of NumPy, printing, draws."""
