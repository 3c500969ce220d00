"""Control flow: joins, branches, handlers, and the fixpoints of loops."""
