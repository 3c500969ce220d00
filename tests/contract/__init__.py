"""The contract, by area: plain functions and their inputs, each run plain and staged by `checking.check`."""
