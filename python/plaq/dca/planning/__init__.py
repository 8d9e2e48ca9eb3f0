"""Needs of a run before it starts (cost, memory, time), and its progress."""
