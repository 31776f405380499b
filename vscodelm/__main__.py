"""The console script, and `python -m vscodelm`."""

from __future__ import annotations

from . import collector


def main() -> None:
    """Run the command."""
    with collector.paused():
        from .cli import main as command
    command(prog_name="vscodelm")


if __name__ == "__main__":
    main()
