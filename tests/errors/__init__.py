"""What programs raise at run time: exceptions, their places, and what is seen after them."""
