"""Physical quantities from measurements: Green's functions, observables, Bethe-Salpeter equation, transitions."""
