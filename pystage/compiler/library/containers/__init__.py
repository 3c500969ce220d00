"""Lists, deques, dicts and sets as rows: what is done to them."""
