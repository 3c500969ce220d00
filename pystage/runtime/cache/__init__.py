"""Programs that another process finds again: `config.cache_dir`. `kept.py` says what is kept and when it is found."""
