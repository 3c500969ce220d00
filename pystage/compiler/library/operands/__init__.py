"""What an argument is as an operand: by the rules of NumPy and JAX, of nested sequences, in reductions and products."""
