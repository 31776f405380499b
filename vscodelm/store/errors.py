"""What keeps the store from being used."""

from __future__ import annotations


class StoreError(Exception):
    """The store can't be used now; the message says why.

    `is_in_doubt` if what was to be written may be written all the same.
    """

    is_in_doubt = False


class DamagedStore(StoreError):
    """It is no store of ours, or not any more."""


class FullStore(StoreError):
    """There is no room."""
