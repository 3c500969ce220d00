"""Programs that nobody wrote by hand, and the smallest programs that ever came out differently."""
