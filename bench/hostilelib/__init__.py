"""Make texts that are as slow to read as possible, and time every module on them."""
