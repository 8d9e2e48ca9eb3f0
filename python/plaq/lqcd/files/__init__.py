"""Files of gauge fields and propagators: ILDG, NERSC, SciDAC."""
