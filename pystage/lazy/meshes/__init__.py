"""Tensors that are spread over the devices of a mesh."""
