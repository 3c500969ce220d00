"""What a program reads of, and stores into, globals, closures, defaults and objects of its caller."""
