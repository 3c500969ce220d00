"""The stage IR: structured and untyped, one program per Python function."""
