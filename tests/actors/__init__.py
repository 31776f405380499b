"""Tests of `actors`."""
