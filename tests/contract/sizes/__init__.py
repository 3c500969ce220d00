"""Arrays whose sizes only the run knows."""
