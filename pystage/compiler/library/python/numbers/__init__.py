"""Python's numbers: `math`, `cmath`, their methods, exact sums."""
