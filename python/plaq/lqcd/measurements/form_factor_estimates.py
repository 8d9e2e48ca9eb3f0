"""Form factors of pseudoscalar mesons from three-point functions of tables [form_factors.NAME]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.measurements.correlators import effective_mass, exponential_mass, forward_part
from plaq.lqcd.measurements.hadron_estimates import Found, ward_sentence
from plaq.lqcd.measurements.hadrons import momentum_suffix

VECTOR = "gammat"


def energies(two_points: np.ndarray, sink: int, is_open: bool) -> list[float]:
    """Return effective masses at half the time of the sink, of each of C_2 [momentum, t]."""
    return [float(exponential_mass(one)[sink // 2] if is_open else effective_mass(one)[sink // 2 - 1])
            for one in two_points]


def q_squared(two_points: np.ndarray, sink: int, is_open: bool, momentum: Sequence[float]) -> np.ndarray:
    r"""Return $Q^2 = \mathbf q^2 - (E - m)^2$ in 1/a^2 for q = ``momentum`` in 1/a, from C_2(q), C_2(0) [2, t]."""
    energy, mass = energies(two_points, sink, is_open)
    return np.array(np.square(momentum).sum() - (energy - mass)**2)


def vector_form_factor(c: np.ndarray, sink: int, is_open: bool) -> np.ndarray:
    r"""Return f(q^2) [tau] for 0 <= tau <= ``sink`` from C_3(q), C_3(0), C_2(q), C_2(0), [4, t].

    $f = \frac{2\sqrt{Em}}{E+m}\frac{C_3(\tau;q)}{C_3(\tau;0)}
    \sqrt{\frac{C_2(t-\tau;q)C_2(\tau;0)C_2(t;0)}{C_2(t-\tau;0)C_2(\tau;q)C_2(t;q)}}$: Z_V and the overlaps with the
    states cancel. E and m are effective masses at t/2. nan where they do not exist.
    """
    moving, rest, two, two_at_rest = c[:, :sink + 1]
    energy, mass = energies(c[2:], sink, is_open)
    with np.errstate(invalid="ignore", divide="ignore"):
        turned = two / two_at_rest
        return (moving / rest * np.sqrt(turned[::-1] / (turned * turned[-1]))
                * 2 * np.sqrt(energy * mass) / (energy + mass))


def form_factor_estimates(table: Any, series: Mapping[str, Recorded], extents: Sequence[int],
                          inverse_spacing: tuple[Estimate, str] | None = None) -> Found:
    """Return two-point functions of a table [form_factors.NAME], Z_V, vector form factors with Q^2, and sentences.

    ``extents`` are those of the lattice, T X Y Z. With an ``inverse_spacing`` in GeV and words on its scale, sentences
    have Q^2 in GeV^2, too.
    """
    found: dict[str, Estimate] = {}
    said = [ward_sentence(table, [series[f"ward_violation_t{sink}"] for sink in table.sink_times])]
    series, is_open = forward_part(series)
    two_point = series["two_point"].values.real
    found["two_point"] = average("two_point", two_point, axes=series["two_point"].axes[1:],
                                 convention="two-point function of gamma5 at rest")
    for sink in table.sink_times if VECTOR in table.structures else ():
        tau = Axis("tau", np.arange(sink + 1), "a")
        local, conserved = (series[f"{name}_t{sink}"].values.real for name in (VECTOR, "conserved"))
        name = f"z_v_t{sink}"
        found[name] = average(
            name, np.stack([local, conserved], axis=1),
            lambda c, sink=sink: 2 * c[1, :sink] / (c[0, :sink] + c[0, 1:sink + 1]),
            axes=[Axis("tau", np.arange(sink), "a")],
            convention="conserved vector current from tau to tau + 1, over the mean of the local ones")
        said.append(f"Z_V at tau = {sink // 2}: {found[name].pick(tau=sink // 2)}")
        if sink < 2:
            continue
        for k in map(tuple, table.momenta):
            if not any(k):
                continue
            ending = momentum_suffix(k)
            two_points = np.stack([series[f"two_point{ending}"].values.real, two_point], axis=1)
            q = [2 * np.pi * n / extent for n, extent in zip(k, extents[1:])]
            name = f"q_squared_t{sink}{ending}"
            transfer = found[name] = average(
                name, two_points, lambda c, sink=sink, q=q: q_squared(c, sink, is_open, q), unit="1/a^2",
                convention=f"Q^2 = q^2 - (E - m)^2 at momentum {k} in 2 pi / L, masses at t = {sink // 2}")
            name = f"vector_t{sink}{ending}"
            found[name] = average(
                name, np.concatenate([np.stack([series[f"{VECTOR}_t{sink}{ending}"].values.real, local], axis=1),
                                      two_points], axis=1),
                lambda c, sink=sink: vector_form_factor(c, sink, is_open), axes=[tau],
                convention=f"vector form factor f(q^2) at momentum {k} in 2 pi / L, normalised by f(0) = 1")
            in_gev = ""
            if inverse_spacing:
                one, scale = inverse_spacing
                in_gev = f" = {transfer * one**2} GeV^2 by {scale}"
            said.append(f"vector form factor, momentum {k}, Q^2 = {transfer} / a^2{in_gev}, at tau = {sink // 2}: "
                        f"{found[name].pick(tau=sink // 2)}")
    return found, said
