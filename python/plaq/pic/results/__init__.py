"""Results of a run: figures, report, and linear theory to compare with."""
