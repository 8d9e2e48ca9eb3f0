"""Self-consistency loop of the dynamical cluster approximation: its iterations, their state, start and observers."""
