"""From measurements to physics: Green's functions, observables, Bethe-Salpeter equation,
orders and where they set in."""
