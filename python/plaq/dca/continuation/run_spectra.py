"""Spectra of all temperatures of a run, computed from its results, and their file ``spectra.h5``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from plaq.data.display import Drawing, behind_clicks, block, details, drawing_of, head
from plaq.data.tables import entries, to_csv
from plaq.dca.continuation import FILE, file
from plaq.dca.continuation.lattice_functions import PERIODISATIONS
from plaq.dca.continuation.maxent import CHOICES
from plaq.dca.continuation.one_function import METHODS, MODELS, Choice
from plaq.dca.continuation.orbital_spectra import orbital_spectra_of
from plaq.dca.continuation.pade import NoFunction
from plaq.dca.continuation.spectra import Settings, SpectralPoint, grid_of, spectra_of
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.dca.results.file import read_run
from plaq.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(repr=False)
class Spectra:
    """Spectra of a run, from hot to cold. ``unit`` is that of energies, ``of`` the hash of the G and Sigma."""

    points: list[SpectralPoint]
    settings: dict[str, str]
    unit: str
    of: str
    left_out: list[str] = field(default_factory=list)

    def at(self, T: float) -> SpectralPoint:
        """Return the spectra at temperature ``T``; KeyError when there are none."""
        for point in self.points:
            if np.isclose(point.T, T, rtol=1e-9, atol=0):
                return point
        raise KeyError(f"no spectra at T = {T}; there are {[point.T for point in self.points]}")

    def warnings(self) -> list[str]:
        """Return a line for each spectrum that does not fit its data, and for each temperature that was left out."""
        return self.left_out + [line for point in self.points for line in point.warnings()]

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures by name."""
        from plaq.dca.continuation.picture import drawings

        return drawings(self)

    def plot(self, name: str = "spectra_map") -> Figure:
        """Return one of the figures."""
        return drawing_of(self.drawings(), name).figure()

    def save(self, folder: str | Path) -> Path:
        """Write ``spectra.h5`` into a folder of a run, where report, figures and export find it; return its path."""
        path = Path(folder) / FILE
        file.write(path, self.points, {"of": self.of, "unit": self.unit, "settings": self.settings,
                                       "left out": self.left_out})
        return path

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the spectra in the folder of a run. InputError if there is no ``spectra.h5``, or a damaged one."""
        points, header = file.read(Path(folder) / FILE)
        return cls(points, header["settings"], header["unit"], header["of"], header["left out"])

    def csv(self) -> dict[str, str]:
        """Return CSV files by name: a row for each temperature and entry."""
        names = dict.fromkeys(name for point in self.points for name in point.estimates)
        return {f"spectra_{name}.csv": to_csv({"T": point.T, **row} for point in self.points if name in point
                                              for row in entries(point.estimates[name])) for name in names}

    def __repr__(self) -> str:
        temperatures = ", ".join(f"{point.T:g}" for point in self.points)
        return f"<plaq dca spectra by {self.settings['method']}: T = {temperatures}>"

    def _repr_html_(self) -> str:
        from plaq.dca.continuation.tables import fit_table, spectrum_table

        return block(head(repr(self)[1:-1], self.warnings()), spectrum_table(self), details("Fits", fit_table(self)),
                     behind_clicks(self.drawings().values()))


def spectra(folder: str | Path, *, temperatures: Iterable[float] = (), method: str = "maxent", model: str = "flat",
            alpha: str = "chi2kink", periodisation: str = "patch") -> Spectra:
    """Return spectra of a run from its results, without its chains.

    temperatures : by default all of the run; method : maxent, stochastic or pade, with the others beside it; model,
    alpha : default model (flat, gaussian, hotter) and rule for alpha (chi2kink, classic, bryan) of maximum entropy;
    periodisation : of the path through the zone: patch, sigma, cumulant or green. InputError for anything else.
    """
    for name, value, allowed in (("method", method, METHODS), ("model", model, MODELS), ("alpha", alpha, CHOICES),
                                 ("periodisation", periodisation, PERIODISATIONS)):
        if value not in allowed:
            raise InputError(f"{name} = {value!r}: not one of {', '.join(allowed)}")
    if method != "maxent" and (model, alpha) != ("flat", "chi2kink"):
        raise InputError(f"model = {model!r}, alpha = {alpha!r}: these are settings of maxent, and method = {method!r}")
    run = read_run(Path(folder))
    if run.parameters.hamiltonian.order is not None:
        raise InputError(f"{folder}: spectra are those of the normal phase, and this run has order.kind = "
                         f'"{run.parameters.hamiltonian.order.kind}"')
    if periodisation != "patch" and (run.parameters.dca.isolated or run.parameters.model.density_of_states is not None):
        raise InputError(f"periodisation = {periodisation!r}: {folder} is of an isolated cluster or has no band, so it "
                         "has no path through a zone")
    chosen = chosen_points(run.results.points, list(temperatures), folder)
    needed = ("G", "Sigma", "Sigma_infinity", *(() if run.parameters.is_general else ("Sigma_moment",)))
    left_out = [f"T = {point.T:g}: left out, {reason}" for point in chosen if (reason := unusable(point, needed))]
    usable = sorted((point for point in chosen if not unusable(point, needed)), key=lambda point: -point.T)
    if not usable:
        raise InputError(f"{folder}: no temperature has spectra; {'; '.join(left_out) or 'none is finished'}")
    settings = Settings(Choice(method, model, alpha), periodisation)
    return spectra_of_points(usable, run.parameters, settings, left_out)


def spectra_of_points(points: list[Point], parameters: Parameters, settings: Settings, left_out: list[str]) -> Spectra:
    """Return the spectra of points from hot to cold, on one grid. InputError where no point has one of this method."""
    grid = grid_of(parameters, points)
    of_point = orbital_spectra_of if parameters.is_general else spectra_of
    found: list[SpectralPoint] = []
    used = []
    for point in points:
        try:
            found.append(of_point(point, parameters, settings, grid, found[-1] if found else None))
        except NoFunction as error:
            left_out.append(f"T = {point.T:g}: left out, {error}")
        else:
            used.append(point)
    if not found:
        raise InputError(f"method = {settings.choice.method!r}: no temperature has spectra; {'; '.join(left_out)}")
    return Spectra(found, settings.plain(), parameters.unit, hash_of(used), left_out)


def chosen_points(points: list[Point], temperatures: list[float], folder: str | Path) -> list[Point]:
    """Return the points at these temperatures, all if there are none. InputError for one that the run lacks."""
    if not temperatures:
        return points
    chosen = []
    for T in temperatures:
        at = [point for point in points if np.isclose(point.T, T, rtol=1e-9, atol=0)]
        if not at:
            there = ", ".join(f"{point.T:g}" for point in points) or "none"
            raise InputError(f"{folder}: temperature = {T:g}: the run has no such temperature; there are: {there}")
        chosen += at
    return chosen


def unusable(point: Point, needed: Iterable[str]) -> str:
    """Return why there are no spectra of a point that need these observables; empty if there are."""
    for name in needed:
        if name not in point:
            return f"it has no {name}"
    if not point["G"].supported:
        return f"G has no errors: {point['G'].note or 'they are infinite'}"
    return ""


def hash_of(points: list[Point]) -> str:
    """Return the hash of G and Sigma of these points."""
    content = hashlib.sha256()
    for point in sorted(points, key=lambda point: point.index):
        for name in ("G", "Sigma"):
            for part in (point[name].mean, point[name].error):
                content.update(np.ascontiguousarray(part).tobytes())
    return content.hexdigest()


def stored(folder: Path, points: list[Point]) -> Spectra | None:
    """Return the spectra in a run's folder if they are those of its results, else None. InputError if damaged."""
    spectra = Spectra.load(folder)
    by_index = {point.index: point for point in points}
    if not all(point.index in by_index for point in spectra.points):
        return None
    return spectra if hash_of([by_index[point.index] for point in spectra.points]) == spectra.of else None
