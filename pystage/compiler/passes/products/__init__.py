"""Passes that rewrite the operands of products of matrices."""
