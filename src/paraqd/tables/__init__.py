"""Files in and out: formats, columns, labels, and the register of named data sets."""
