"""The failures that users of other tools ask about most, each as a program: what the tool says, and what pystage does."""
