"""Stage IR as text: what `pystage.code_lowered` prints."""
