"""Objects and their classes, and what the program finds in the caller's world."""
