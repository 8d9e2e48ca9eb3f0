"""Pieces of work over the ranks."""
