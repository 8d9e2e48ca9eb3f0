"""Distribution of pieces of work over the ranks."""
