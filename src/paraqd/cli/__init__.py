"""The command line: thin commands over the library, one file each."""
