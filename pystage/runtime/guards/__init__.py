"""Guards on the environment of a function, its hidden inputs, and feedback from guard failures."""
