"""`pystage.lazy` against the Python Array API standard 2024.12."""
