"""Measured numbers: estimates with errors, statistics, bins, figures."""
