"""Spectra of a run: of G and Sigma of the cluster at each temperature, and of the lattice along a path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data import display
from plaq.data.estimate import Axis, Estimate
from plaq.data.propagation import scatter
from plaq.data.recorded import Recorded
from plaq.dca.continuation.dynamic import susceptibilities
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import METHODS, Choice, Continued, Matsubara, continued, fit_rows, is_fit
from plaq.dca.continuation.path_spectra import along_path
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.model import Model, lattice_of
from plaq.dca.lattice.path import Path, path
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.dca.units import in_units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATH_POINTS = 121
NEGATIVE = 0.02  # of the largest A(k, omega): a smaller one is a fault of the periodisation
LEAST_MOMENT = 1e-10  # of Sigma: below it Sigma is its Hartree term


@dataclass(frozen=True)
class Settings:
    """Choices of `plaq dca spectra`."""

    choice: Choice = field(default_factory=Choice)
    periodisation: str = "patch"

    def plain(self) -> dict[str, str]:
        """Return them by name."""
        return {"method": self.choice.method, "model": self.choice.model, "alpha": self.choice.alpha,
                "periodisation": self.periodisation}


@dataclass(repr=False)
class SpectralPoint:
    """Spectra of a temperature.

    ``estimates``: A [K, omega] and dos [omega] from G; Sigma [K, omega], retarded, with the Hartree term; A_k [k,
    omega] of the lattice along the path, if there are a bath and a band; chi_s_imag, chi_c_imag [q, omega] of a run
    with several bosonic frequencies. ``recorded``: <name>_low and <name>_high, the band of variants, and
    <name>_<method> of the other methods. ``fits`` has a record for each function, momentum and
    method. ``labels`` and ``ticks`` are names and positions of corners of the path, ``positions`` [k] its length.
    """

    index: int
    T: float
    estimates: dict[str, Estimate]
    recorded: dict[str, Recorded]
    fits: list[dict[str, Any]]
    representatives: np.ndarray
    labels: list[str] = field(default_factory=list)
    ticks: np.ndarray = field(default_factory=lambda: np.zeros(0))
    positions: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, name: str) -> Estimate | Recorded:
        everything = self.estimates | self.recorded
        if name not in everything:
            raise KeyError(f"no {name!r} at T = {self.T:g}; there are {', '.join(everything)}")
        return everything[name]

    def __contains__(self, name: str) -> bool:
        return name in self.estimates or name in self.recorded

    @property
    def omega(self) -> np.ndarray:
        """Real frequencies [omega], relative to the chemical potential."""
        return self.estimates["A"].axes[-1].values

    def warnings(self) -> list[str]:
        """Return a line for each spectrum that does not fit its data, or is negative; `fits` has all methods."""
        lines = [f"T = {self.T:g}, {row['function']} at K = {row['momentum']} by {row['method']}: " + (
                     row["why"] or f"does not fit the data, chi^2 = {row['chi2']:.3g} for {row['data']} of them")
                 for row in self.fits if row["main"] and not is_fit(row["chi2"], row["data"])]
        if "A_k" in self and (least := self["A_k"].mean.min()) < -NEGATIVE * self["A_k"].mean.max():
            lines.append(f"T = {self.T:g}: A(k,omega) falls to {least:.2g} between cluster momenta: take another "
                         "periodisation")
        return lines

    def plot(self, name: str = "A") -> Figure:
        """Return a figure of one of the quantities."""
        return self[name].plot()

    def __repr__(self) -> str:
        return f"<plaq dca spectra at T = {self.T:g}: {', '.join(self.estimates)}>"

    def _repr_html_(self) -> str:
        return display.estimates_html(repr(self)[1:-1], self.estimates)


def spectra_of(point: Point, parameters: Parameters, settings: Settings, grid: Grid,
               hotter: SpectralPoint | None = None) -> SpectralPoint:
    """Return all spectra of a temperature; ``hotter`` is the next higher one, for its default model."""
    model = Model.of(parameters)
    cluster, group = model.cluster, model.group.representatives
    functions = {"A": green(point, model.coarse_graining), "Sigma": self_energy(point, parameters, grid)}
    found = {name: {k: continued(grid, of_k[k], settings.choice, before(hotter, name, k)) for k in np.unique(group)}
             for name, of_k in functions.items() if of_k is not None}
    momenta, omega = Axis("K", np.array(cluster.momenta), "1/a"), Axis("omega", grid.omega, "t")
    spectral, label = found["A"], "A(K, omega), spectrum of the cluster's G; omega is relative to mu"
    samples = stacked(spectral, group)
    estimates = {"A": estimate("A", rows(spectral, group, "spectrum"), rows(spectral, group, "error"), samples,
                               (momenta, omega), "1/t", label)}
    mean = lambda a: a.mean(axis=-2)
    estimates["dos"] = derived("dos", mean(estimates["A"].mean), None if samples is None else mean(samples), (omega,),
                               "1/t", "mean of A(K, omega) over K: density of states of one spin")
    sigma, sigma_samples = retarded_sigma(point, found.get("Sigma"), group, grid)
    estimates["Sigma"] = derived("Sigma", sigma, sigma_samples, (momenta, omega), "t",
                                 "Sigma(K, omega + i0) with the Hartree term")
    result = SpectralPoint(point.index, point.T, estimates, records(found, group, (momenta, omega)),
                           fits(found, cluster), group)
    if not parameters.dca.isolated and parameters.model.density_of_states is None:
        along, A = path(cluster.lattice, PATH_POINTS), estimates["A"]
        needed = as_matrix(A, grid.retarded) if settings.periodisation == "green" else None
        add_path(result, along, along_path(cluster, along, grid, point, settings.periodisation,
                                           as_matrix(estimates["Sigma"]), needed))
    responses, more, tested = susceptibilities(point, settings.choice, grid)
    result.estimates = in_units(result.estimates | responses, parameters.unit)
    result.recorded |= more
    result.fits += tested
    return result


def grid_of(parameters: Parameters, points: list[Point]) -> Grid:
    """Return the grid of a run: up to the largest frequency of the Matsubara meshes of its temperatures."""
    lattice = lattice_of(parameters)
    return Grid.up_to(max(cutoff(parameters, lattice, point.T) for point in points))


def green(point: Point, coarse: CoarseGraining) -> dict[int, Matsubara]:
    """Return G of each K.

    Mean and variance of its spectrum are exact: <eps> + Sigma_infinity - mu, and the variance of eps plus the moment of
    Sigma.
    """
    g = point["G"]
    center = coarse.eps_mean + point["Sigma_infinity"].mean - point.mu
    variance = coarse.eps_second - coarse.eps_mean**2 + point["Sigma_moment"].mean
    return {k: Matsubara(g.axes[1].values, g.mean[k], g.error[k], None if g.jackknife is None else g.jackknife[:, k],
                         1.0, center[k], max(variance[k], 1e-3)) for k in range(len(g.mean))}


def self_energy(point: Point, parameters: Parameters, grid: Grid) -> dict[int, Matsubara] | None:
    """Return Sigma of each K without its Hartree term, None where that is all; the norm is the known moment.

    Mean and variance of the spectrum are guesses: those of the atom, and the square of a quarter of the grid.
    """
    sigma, constant, moment = (point[name] for name in ("Sigma", "Sigma_infinity", "Sigma_moment"))
    if moment.mean.max() < LEAST_MOMENT:
        return None
    samples = None if sigma.jackknife is None else sigma.jackknife - constants(constant, sigma)[:, :, None]
    center = parameters.model.U - constant.mean - point.mu
    return {k: Matsubara(sigma.axes[1].values, sigma.mean[k] - constant.mean[k], sigma.error[k],
                         None if samples is None else samples[:, k], moment.mean[k], center[k],
                         (grid.omega[-1] / 4) ** 2) for k in range(len(sigma.mean))}


def constants(constant: Estimate, sigma: Estimate) -> np.ndarray:
    """Return the Hartree term of each sample [sample, K]."""
    if constant.jackknife is not None:
        return constant.jackknife
    return np.broadcast_to(constant.mean, (len(sigma.jackknife), *constant.mean.shape))


def before(hotter: SpectralPoint | None, name: str, k: int) -> np.ndarray | None:
    """Return the spectrum of the next higher temperature [x]."""
    if hotter is None:
        return None
    values = hotter.estimates[name].mean[k]
    return np.maximum(-values.imag / np.pi, 0.0) if name == "Sigma" else values


def rows(found: dict[int, Continued], group: np.ndarray, part: str) -> np.ndarray:
    """Return one array of all momenta [K, x]: equivalent ones have the same."""
    return np.array([getattr(found[k], part) for k in group])


def stacked(found: dict[int, Continued], group: np.ndarray) -> np.ndarray | None:
    """Return the samples of all momenta [sample, K, x]; None where some have none."""
    if any(one.samples is None for one in found.values()):
        return None
    return np.stack([found[k].samples for k in group], axis=1)


def estimate(name: str, mean: np.ndarray, error: np.ndarray, samples: np.ndarray | None, axes: tuple[Axis, ...],
             unit: str, convention: str) -> Estimate:
    return Estimate(name, mean, error, samples, axes, unit, convention)


def derived(name: str, mean: np.ndarray, samples: np.ndarray | None, axes: tuple[Axis, ...], unit: str,
            convention: str) -> Estimate:
    """Return an estimate with the error of its samples [sample, ...]."""
    error = np.zeros_like(mean) if samples is None else scatter(samples - samples.mean(axis=0))
    return Estimate(name, mean, error, samples, axes, unit, convention)


def retarded_sigma(point: Point, found: dict[int, Continued] | None, group: np.ndarray, grid: Grid
                   ) -> tuple[np.ndarray, np.ndarray | None]:
    """Return Sigma(K, omega + i0) [K, x] and its samples."""
    constant = point["Sigma_infinity"]
    if found is None:
        return np.repeat(constant.mean[:, None] + 0j, len(grid.omega), axis=1), None
    mean = constant.mean[:, None] + grid.retarded(rows(found, group, "spectrum"))
    samples = stacked(found, group)
    if samples is None:
        return mean, None
    shift = constants(constant, Estimate("", np.zeros(1), np.zeros(1), samples[:, 0, :1]))
    return mean, shift[:, :, None] + grid.retarded(samples)


def add_path(result: SpectralPoint, along: Path, estimates: dict[str, Estimate]) -> None:
    """Add A(k, omega) along a path."""
    result.estimates |= estimates
    result.labels, result.ticks, result.positions = list(along.labels), along.ticks, along.positions


def as_matrix(f: Estimate, function: Callable[[np.ndarray], np.ndarray] = lambda f: f
              ) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a function of one band [K, x], and its samples, as one with spins and orbitals [S, K, a, b, x]."""
    shaped = lambda values: function(values)[..., None, :, None, None, :]
    return shaped(f.mean), None if f.jackknife is None else shaped(f.jackknife)


def records(found: dict[str, dict[int, Continued]], group: np.ndarray, axes: tuple[Axis, Axis]) -> dict[str, Recorded]:
    """Return band and other methods of every function; of Sigma the spectrum -Im Sigma/pi."""
    result = {}
    numbered = (Axis("K", np.arange(len(group))), axes[1])
    for name, of_k in found.items():
        what = "A" if name == "A" else "-Im Sigma/pi"
        for part, words in (("low", "least"), ("high", "largest")):
            result[f"{name}_{part}"] = Recorded(f"{name}_{part}", rows(of_k, group, part), numbered,
                                                convention=f"{words} {what} of all variants of the method")
        for method in METHODS:
            if all(method in one.beside for one in of_k.values()):
                values = np.array([of_k[k].beside[method] for k in group])
                result[f"{name}_{method}"] = Recorded(f"{name}_{method}", values, numbered,
                                                      convention=f"{what} by {method}")
    return result


def fits(found: dict[str, dict[int, Continued]], cluster: Cluster) -> list[dict[str, Any]]:
    """Return a record for each function, momentum and method."""
    table = []
    for name, of_k in found.items():
        for k, one in of_k.items():
            table += fit_rows("G" if name == "A" else name, cluster.names[k], one)
    return table
