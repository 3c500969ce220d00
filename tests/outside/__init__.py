"""The tests that NumPy installs beside itself, each of their calls run staged, or on lazy tensors, beside the plain one."""
