"""Rules that meanings share: promotion, casting, ranges, splits, refusals."""
