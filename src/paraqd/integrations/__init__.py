"""Connect paraqd to other tools, such as Ray Data."""
