"""Operations that make and move elements without computing: shapes, slices, gather, scatter, sort."""
