"""The command line: serve over stdio, or chat in the terminal."""
