"""Python's builtins and standard library: numbers, containers, iterators, strings, operators."""
