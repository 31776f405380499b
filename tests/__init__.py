"""The tests, one file per source file."""
