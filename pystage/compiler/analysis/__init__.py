"""What is true of HLO IR, without changing it: intervals, def-use, liveness, the buffers that values share."""
