"""The parts of the state of one inference, each of which declares what a speculation does to it; the engine holds them."""
