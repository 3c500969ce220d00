"""The cache folder (`config.cache_dir`): programs that other processes find. `kept.py` says what is kept and found."""
