"""`python -m vscodelm`: the same as the console script."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main(prog_name="vscodelm")
