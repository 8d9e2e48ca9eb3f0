"""Instabilities: the transition of every channel whose leading eigenvalue was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plaq.data.formatting import momentum
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import CHANNEL, channels, momenta, pairing_irreps
from plaq.dca.physics.transition import Transition, across

PAIRING = "lambda_d"
SPIN = ("magnetic", "transverse")
CLEAR = 3.0  # standard errors by which the imaginary part of an eigenvalue differs from 0


@dataclass
class Instability:
    """An order of an irrep that a channel (at transfer q, in units of 1/a) may go into.

    ``temperatures`` are those that have its eigenvalue, rising. ``name`` says which, ``symbol`` is what its
    temperature is called, ``observable`` the series of its leading eigenvalue.
    ``transition`` is None with fewer than two temperatures.
    """

    channel: str
    q: tuple[float, float]
    irrep: str
    name: str
    symbol: str
    observable: str
    transition: Transition | None
    temperatures: list[float]
    sentence: str = ""

    @property
    def outside(self) -> tuple[str, float]:
        """("<", lowest T) or (">", highest T) of an order whose transition lies beyond the temperatures."""
        return ("<", self.temperatures[0]) if self.transition.below else (">", self.temperatures[-1])

    @property
    def is_pairing(self) -> bool:
        """Whether it is superconductivity without a wave vector."""
        return CHANNEL.fullmatch(self.observable) is None

    @property
    def label(self) -> str:
        """``λ_magnetic(π,π)``, with the irrep where that is not s, and ``λ_d`` for d-wave pairing."""
        if self.is_pairing:
            return f"λ_{self.irrep}"
        return f"λ_{self.channel}{momentum(self.q)}" + ("" if "s" in self.irrep.split("+") else f",{self.irrep}")

    @property
    def eigenvalue(self) -> str:
        """The label as sentences have it: ``lambda_magnetic(π,π)``."""
        return self.label.replace("λ", "lambda")

    @property
    def status(self) -> str:
        """ "found", "bound" or "not measured"."""
        return self.transition.status if self.transition else "not measured"

    def plain(self) -> dict:
        """Return it as nested dicts for files; q in units of pi/a."""
        transition = self.transition
        return {"channel": self.channel, "q": [x / np.pi for x in self.q], "irrep": self.irrep, "order": self.name,
                "symbol": self.symbol, "status": self.status,
                "value": transition and transition.value, "error": transition and transition.error,
                "method": transition.method if transition else "", "sentence": self.sentence}


def instabilities(points: list[Point], pairing: Transition | None) -> list[Instability]:
    """Return the instabilities: pairing first, then one for each channel and transfer at zero frequency.

    pairing : transition of `leading_pairing`. On a lattice of two dimensions order that breaks a continuous symmetry
    sets in at T = 0 only. The temperature of a finite cluster in its bath is where correlations outgrow the cluster.
    """
    orders = []
    name = leading_pairing(points)
    if any(name in point for point in points):
        irrep, zero = name.removeprefix("lambda_"), (0.0,) * momenta(points[0]).shape[1]
        order = in_words(irrep, "superconductivity")
        orders.append(instability(points, "pp", zero, irrep, order, "T_c", name, pairing))
    for channel, q, names in measured_channels(points):
        for irrep, name in leading_irreps(points, names).items():
            order, symbol = naming(channel, q, irrep)
            real = [point for point in points if name in point and not is_complex(point, name)]
            orders.append(instability(points, channel, q, irrep, order, symbol, name, across(real, name, symbol)))
    return orders


def leading_pairing(points: list[Point]) -> str:
    """Return the pairing eigenvalue that T_c is of: lambda_d of one band.

    General models have all irreps alike, each with its ``eigenvalues_X``. There it is the one of the irrep whose
    eigenvalue is largest at the lowest temperature. Triplets count where they are above 1: those that are odd in
    frequency lead at high temperature, and stay below.
    """
    irreps = [x for x in pairing_irreps(points) if any(f"eigenvalues_{x}" in point for point in points)]
    measured = [point for point in points if any(f"lambda_{x}" in point for x in irreps)]
    if not measured:
        return PAIRING
    coldest = min(measured, key=lambda point: point.T)
    size = {x: float(coldest[f"lambda_{x}"].mean) for x in irreps if f"lambda_{x}" in coldest}
    rank = lambda x: (size[x] > 1 or not x.endswith("_triplet"), np.nan_to_num(size[x], nan=-np.inf))
    return f"lambda_{max(size, key=rank)}"


def in_words(irrep: str, order: str) -> str:
    """Return ``d-wave superconductivity`` of an irrep, with its parity under the exchange of spins and of orbitals."""
    base = irrep.replace("_triplet", "").replace("_odd", "")
    return (f"{base}-wave {'triplet ' if '_triplet' in irrep else ''}{order}"
            + (", odd under exchange of orbitals" if "_odd" in irrep else ""))


def is_complex(point: Point, name: str) -> bool:
    """Return whether the leading eigenvalue is one of a complex pair: its real part may then reach 1 without an order.
    """
    eigenvalues = point.observables.get(name.replace("lambda", "eigenvalues", 1))
    if eigenvalues is None or not np.iscomplexobj(eigenvalues.mean):
        return False
    return bool(abs(eigenvalues.mean[0].imag) > CLEAR * eigenvalues.error[0].imag + 1e-9)


def measured_channels(points: list[Point]) -> list[tuple[str, tuple[float, float], dict[str, str]]]:
    """Return (channel, transfer, {irreps: observable}) at zero frequency."""
    observables = {}
    for point in points:
        for name, (channel, q, m, irrep) in channels(point).items():
            if m == 0:
                where = channel, tuple(float(x) for x in momenta(point)[q])
                observables.setdefault(where, {})[irrep] = name
    return [(channel, q, names) for (channel, q), names in observables.items()]


def leading_irreps(points: list[Point], names: Mapping[str, str]) -> dict[str, str]:
    """Return two entries of {irreps: observable}: s, and the irreps that lead at the lowest temperature.

    Order in s does not change sign in the zone.
    """
    measured = [point for point in points if any(name in point for name in names.values())]
    coldest = min(measured, key=lambda point: point.T)
    size = {irrep: float(coldest[name].mean) for irrep, name in names.items() if name in coldest}
    finite = {irrep: value for irrep, value in size.items() if np.isfinite(value)}
    leading = max(finite, key=finite.get, default=None)
    return {irrep: name for irrep, name in names.items() if irrep == leading or "s" in irrep.split("+")}


def naming(channel: str, q: tuple[float, float], irrep: str) -> tuple[str, str]:
    """Return (order, symbol of its temperature) of a channel's instability at the transfer q in an irrep."""
    uniform = np.allclose(q, 0)
    staggered = np.allclose(np.abs(q), np.pi)
    columnar = sorted(np.abs(q).round(9)) == [0, round(np.pi, 9)]
    if "s_odd" in irrep.split("+"):  # the order of irrep s with opposite signs on orbitals that are exchanged
        order, symbol = naming(channel, q, "s")
        kind, of = ("antiferromagnetism", "T_N") if channel in SPIN else ("charge order", "T_CDW")
        return (f"{kind} between orbitals", of) if uniform else (f"{order}, opposite on exchanged orbitals", symbol)
    if "s" not in irrep.split("+"):
        order = {"pp": "pair density wave", "charge": "charge order"}.get(channel, "spin order")
        return in_words(irrep, order), f"T_{irrep}"
    if channel in SPIN:
        if uniform:
            return "ferromagnetism", "T_FM"
        if staggered:
            return "Néel antiferromagnetism", "T_N"
        return ("stripe antiferromagnetism" if columnar else "incommensurate or stripe spin order"), "T_SDW"
    if channel == "charge":
        return ("phase separation", "T_PS") if uniform else ("charge order", "T_CDW")
    return "pair density wave", "T_PDW"


def instability(points, channel, q, irrep, order, symbol, name, transition) -> Instability:
    """Return an instability with its sentence: its temperature, a bound, or the data that it needs."""
    measured = sorted((point for point in points if name in point), key=lambda point: point.T)
    paired = [point for point in measured if is_complex(point, name)]
    result = Instability(channel, q, irrep, order, symbol, name, transition,
                         [point.T for point in measured if point not in paired])
    left_out = f"one of a complex pair at T = {', '.join(f'{point.T:g}' for point in paired)}, which is not counted"
    if transition is not None:
        result.sentence = transition.sentence + (f"; {result.eigenvalue} is {left_out}" if paired else "")
        return result
    coldest = measured[0]
    if paired:
        result.sentence = f"{result.eigenvalue} is {left_out}: its real part may reach 1 without an order"
        return result
    result.sentence = (f"{result.eigenvalue} = {coldest[name]} at T = {coldest.T:g}; {symbol} is determined "
                       f"when a run is finished that has {result.eigenvalue} at two temperatures or more")
    return result
