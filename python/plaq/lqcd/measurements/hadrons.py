"""Measurements of hadrons: two-point functions of valence quarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.lqcd.fields.fields import GaugeField
from plaq.lqcd.fields.propagators import Propagator, Smearing, noise_propagator, point_propagator
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.measurements.gluonic import smooth_links
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.mesons import meson_correlator, spin_tensor


class Mesons(Measurement):
    """Two-point functions of [mesons.NAME]."""

    family = "mesons"

    def pairs(self) -> dict[str, tuple[str, str]]:
        """Return {quantity: (structure of the sink, of the source)}."""
        pairs = {name: (name, name) for name in self.table.structures}
        if "gamma5" in pairs:
            pairs["gammatgamma5_gamma5"] = "gammatgamma5", "gamma5"
        return pairs

    def quantities(self) -> dict[str, Quantity]:
        t = Axis("t", np.arange(self.p.lattice.extents[0]), "a")
        return {name: Quantity("two-point function, sum over space"
                               + (f", {sink} at the sink and {source} at the source" if sink != source else "")
                               + ", t from the source", (t,)) for name, (sink, source) in self.pairs().items()}

    def measure(self, gauge: GaugeField, number: int) -> Mapping[str, Any]:
        matrix = Wilson(gauge, self.table.kappa, self.table.mu, self.table.theta, self.table.csw)
        tensor = spin_tensor(self._propagator(matrix, gauge, number))
        return {name: meson_correlator(tensor, sink, source=source) for name, (sink, source) in self.pairs().items()}

    def _propagator(self, matrix: Wilson, gauge: GaugeField, number: int) -> Propagator:
        """Return the propagator of a configuration from a random site or time slice, smeared as the table says.

        Random numbers are functions of seed and number.
        """
        table, seed, number = self.table, self.p.seed, number - 1
        links = smooth_links(gauge, table) if table.gauss_source or table.gauss_sink else gauge
        smearing = Smearing(links, table.gauss_kappa, table.gauss_source) if table.gauss_source else None
        random = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 1, number]))
        site = tuple(int(x) for x in random.integers(self.p.lattice.extents))
        options = {"smearing": smearing, "method": table.solver, "precision": table.precision}
        if table.source == "noise":
            propagator = noise_propagator(matrix, site[0], seed, number, table.residual, **options)
        else:
            propagator = point_propagator(matrix, site, table.residual, **options)
        return (propagator.smear_sink(Smearing(links, table.gauss_kappa, table.gauss_sink)) if table.gauss_sink
                else propagator)
