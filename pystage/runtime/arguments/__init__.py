"""The arguments of a call: their classification, and how they are flattened."""
