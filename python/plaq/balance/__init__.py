"""Recorded loads of elements, replayed through the balancers of collections on any number of ranks."""
