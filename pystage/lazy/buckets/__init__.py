"""Programs of lazy tensors that many sizes share."""
