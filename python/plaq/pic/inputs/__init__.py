"""Input of plaq pic: parameters, formulas, units, checks, and the plan of the core."""
