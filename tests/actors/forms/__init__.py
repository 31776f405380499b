"""Tests of `actors.forms`."""
