"""From a program's outputs to the caller's objects: results, mutations, exceptions."""
