"""Operations that work element by element."""
