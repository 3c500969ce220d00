"""What known Python functions mean, in terms of HLO operations. `everything` imports all of it."""
