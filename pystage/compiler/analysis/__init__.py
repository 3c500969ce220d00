"""What is true of HLO IR, without changing it: intervals, liveness, the buffers that values share."""
