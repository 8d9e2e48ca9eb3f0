"""Measurements on the configurations of a chain, and their analysis."""
