"""From what a program gives to what the caller gets: objects, stores, exceptions."""
