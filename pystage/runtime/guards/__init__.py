"""What a program takes for granted of the world around its function: read and checked at every call, and learnt from."""
