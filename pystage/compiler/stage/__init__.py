"""The stage IR: structured, untyped, one program per Python function."""
