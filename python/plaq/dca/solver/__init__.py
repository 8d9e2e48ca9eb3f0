"""The cluster solver: Markov chains, what they measure, and exact diagonalisation."""
