"""Thermodynamics of a run: entropy, specific heat and free energy by temperature, as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.propagation import derive
from plaq.dca.physics.entropy import Integration
from plaq.dca.physics.high_temperature import Ensemble
from plaq.dca.physics.point import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from plaq.data.display import Drawing

FEWEST = 3  # temperatures
UNCERTAIN = 0.01  # of s at the highest temperature, from which the table says that it is too low
HIGH = 3.0  # times the root of the variance of the energy: a temperature that is high enough
QUANTITIES = ("entropy", "specific_heat", "free_energy", "compressibility")


@dataclass(repr=False)
class Thermodynamics:
    """Entropy, specific heat and so on, per site, along T from high to low.

    ``estimates`` by name, with statistical errors; ``uncertainty`` {name: [T]} is the estimated error of entropy,
    specific_heat and free_energy from the finite number of temperatures. ``missing`` says in a line what the run
    lacks; empty where it lacks nothing. ``fixed`` : "density" or "mu", while T changes.
    """

    T: np.ndarray
    estimates: dict[str, Estimate] = field(default_factory=dict)
    uncertainty: dict[str, np.ndarray] = field(default_factory=dict)
    missing: str = ""
    fixed: str = "density"

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            there = ", ".join(self.estimates) or f"none: {self.missing}"
            raise KeyError(f"no {name!r}; there are {there}")
        return self.estimates[name]

    def __contains__(self, name: str) -> bool:
        return name in self.estimates

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each temperature: T, and value, error and uncertainty of every quantity."""
        rows = []
        for i, T in enumerate(self.T.tolist()):
            row: dict[str, Any] = {"T": T}
            for name, e in self.estimates.items():
                row |= {name: e.mean[i].item(), f"{name}_error": e.error[i].item()}
                if name in self.uncertainty:
                    row[f"{name}_discretisation"] = self.uncertainty[name][i].item()
            rows.append(row)
        return rows

    def to_dataframe(self) -> DataFrame:
        """Return `rows`. ImportError without pandas."""
        from plaq.data.tables import dataframe

        return dataframe(self.rows())

    def plot(self) -> Figure:
        """Return a figure of entropy and specific heat against T."""
        return self.drawing().figure()

    def drawing(self) -> Drawing:
        """Return the figure, not drawn yet."""
        from plaq.dca.results.entropy_figure import drawing

        return drawing(self)

    def __repr__(self) -> str:
        if not self.estimates:
            return f"<plaq dca thermodynamics: {self.missing}>"
        s = self["entropy"]
        return (f"<plaq dca thermodynamics: {len(self.T)} temperatures, s = {s[len(self.T) - 1]} at T = {self.T[-1]:g}"
                f"{'; ' + self.missing if self.missing else ''}>")

    def _repr_html_(self) -> str:
        from plaq.data.display import behind_clicks, block, head
        from plaq.dca.results.report_tables import thermodynamics_table

        if not self.estimates:
            return block(head(repr(self)[1:-1]))
        return block(head(repr(self)[1:-1]), thermodynamics_table(self), behind_clicks([self.drawing()]))


def thermodynamics(points: list[Point], ensemble: Ensemble | None, unit: str) -> Thermodynamics:
    """Return the thermodynamics of a run's points in an ensemble; None where that is not known.

    Noise at different temperatures counts as independent: chains start from those of the temperature before, and
    forget them during warm-up and approach.
    """
    known = sorted((p for p in points if "energy" in p and "density" in p), key=lambda point: -point.T)
    T = np.array([point.T for point in known])
    if ensemble is None:
        return Thermodynamics(T, missing="no entropy: the run's input is not known")
    if len(known) < FEWEST:
        return Thermodynamics(T, missing=f"no entropy: it needs the energy at {FEWEST} temperatures or more, and there "
                                         f"are {len(known)}")
    integration = Integration(1 / T, ensemble)
    energies = [point["energy"] for point in known]
    densities = [point["density"] for point in known] if ensemble.fixed == "mu" else []
    axes = (Axis("T", T, unit),)

    def k_of(values) -> np.ndarray:
        k = np.array(values[:len(T)], dtype=float)
        return k - ensemble.mu * np.array(values[len(T):], dtype=float) if densities else k

    def integrated(function, name: str, of: str, convention: str) -> Estimate:
        return derive(lambda *values: function(k_of(values)), *energies, *densities, name=name, axes=axes, unit=of,
                      convention=convention)

    held = "n" if ensemble.fixed == "density" else "mu"
    free = "e - T s" if held == "n" else "e - mu n - T s, the grand potential"
    estimates = {
        "entropy": integrated(integration.entropy, "entropy", "", f"s per site, from T = inf at fixed {held}"),
        "specific_heat": integrated(integration.specific_heat, "specific_heat", "",
                                    "de/dT at fixed n" if held == "n" else "d(e - mu n)/dT at fixed mu"),
        "free_energy": integrated(lambda k: k - T * integration.entropy(k), "free_energy", unit, f"{free}, per site"),
    }
    if ensemble.isolated and all("charge_susceptibility" in point for point in known):
        estimates["compressibility"] = compressibility(known, axes, unit)
    k = k_of([e.mean for e in (*energies, *densities)])
    of_s = integration.entropy_uncertainty(k)
    uncertainty = {"entropy": of_s, "specific_heat": integration.specific_heat_uncertainty(k), "free_energy": T * of_s}
    return Thermodynamics(T, estimates, uncertainty, too_low(T[0], of_s[0], ensemble), ensemble.fixed)


def compressibility(points: list[Point], axes: tuple[Axis, ...], unit: str) -> Estimate:
    """Return dn/dmu of an isolated cluster, chi_c at q = 0. That of a cluster in a bath is not the lattice's."""
    return derive(lambda *chi: np.array([c[0].real for c in chi]), *(p["charge_susceptibility"] for p in points),
                  name="compressibility", axes=axes, unit=unit and f"1/{unit}", convention="dn/dmu = chi_c(q = 0)")


def too_low(T: float, uncertain: float, ensemble: Ensemble) -> str:
    """Return that the highest temperature is too low to begin at, where it is."""
    if uncertain < UNCERTAIN:
        return ""
    enough = HIGH / ensemble.scale
    return (f"the highest temperature, {T:g}, is too low for the step from T = inf, which leaves s uncertain by "
            f"{uncertain:.2g}: begin dca.temperatures at {float(f'{enough:.1g}'):g} or above")
