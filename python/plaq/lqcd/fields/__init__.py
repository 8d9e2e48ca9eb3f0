"""Fields on a lattice, and the operators, solvers and propagators of quarks."""
