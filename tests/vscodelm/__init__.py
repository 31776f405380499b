"""Tests of `vscodelm`."""
