"""What leaves a program: templates of its results and of mutations."""
