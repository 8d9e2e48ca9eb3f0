"""chi^2 of measured against exact numbers, over many runs, in units of the errors that the runs themselves report.

How sharp is chi^2? Numbers of one run are correlated, those of different runs are not (their seeds differ). So the
standard error of chi^2 per number is taken from the scatter between runs, and the tests demand that it is small.
Errors come from 64 bins, which lets chi^2 per number expect 63/61 = 1.03, and bins of finite length add a little.
"""

from collections import defaultdict

import numpy as np

ROUNDING = 1e-7  # of measurements in single precision


class Deviations:
    """z = (measured - exact)/error of every compared number, by quantity and run."""

    def __init__(self):
        self.squares = defaultdict(list)  # quantity -> [(run, z^2 [number])]

    def add(self, run, name, measured, exact, error):
        """Complex numbers count twice. What a symmetry fixes in every configuration has no error but rounding."""
        measured, exact, error = (np.atleast_1d(x) for x in (measured, exact, error))
        if np.iscomplexobj(measured):
            measured, exact, error = (np.concatenate([x.real, x.imag]) for x in (measured, exact, error))
        noisy = error > ROUNDING
        assert np.all(np.abs(measured - exact)[~noisy] < 20 * ROUNDING), f"{name}: {measured - exact}, error {error}"
        if noisy.any():
            self.squares[name].append((run, ((measured - exact)[noisy] / error[noisy]) ** 2))

    def all(self):
        """z^2 of every number."""
        return np.concatenate([squares for runs in self.squares.values() for _, squares in runs])

    def reduced(self, *names):
        """chi^2 per number, its standard error, and how many numbers, of these quantities together (all, if none)."""
        sums, counts = defaultdict(float), defaultdict(int)
        for name in names or self.squares:
            for run, squares in self.squares[name]:
                sums[run] += squares.sum()
                counts[run] += squares.size
        sums, counts = np.array([*sums.values()]), np.array([*counts.values()])
        mean = sums.sum() / counts.sum()
        return mean, np.sqrt(((sums - mean * counts) ** 2).sum()) / counts.sum(), counts.sum()

    def table(self):
        rows = [(name, *self.reduced(name)) for name in self.squares] + [("all", *self.reduced())]
        return "\n".join(f"{name:24s} {chi2:6.3f} +- {error:.3f}  ({count} numbers)"
                         for name, chi2, error, count in rows)
