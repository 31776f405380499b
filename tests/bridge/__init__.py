"""Tests of `bridge`."""
