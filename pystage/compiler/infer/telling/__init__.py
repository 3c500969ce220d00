"""What inference says to people: of what is refused, why, and where."""
