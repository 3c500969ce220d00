"""What is true of HLO IR and stage IR, without changing it: intervals, induction, def-use, liveness, shared buffers."""
