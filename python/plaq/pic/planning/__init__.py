"""Planning of a run: description, warnings and cost of an input."""
