"""Inference: an abstract interpreter over stage IR that builds HLO IR as it goes."""
