"""A call's arguments: what each of them is to a program, and how they are taken apart."""
