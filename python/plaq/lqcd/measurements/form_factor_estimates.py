"""Form factors of pseudoscalar mesons from three-point functions of tables [form_factors.NAME]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.measurements.correlators import effective_mass, exponential_mass, forward_part
from plaq.lqcd.measurements.hadron_estimates import Found, ward_sentence
from plaq.lqcd.measurements.hadrons import momentum_suffix

VECTOR = "gammat"


def vector_form_factor(c: np.ndarray, sink: int, is_open: bool) -> np.ndarray:
    r"""Return f(q^2) [tau] for 0 <= tau <= ``sink`` from C_3(q), C_3(0), C_2(q), C_2(0), [4, t].

    $f = \frac{2\sqrt{Em}}{E+m}\frac{C_3(\tau;q)}{C_3(\tau;0)}
    \sqrt{\frac{C_2(t-\tau;q)C_2(\tau;0)C_2(t;0)}{C_2(t-\tau;0)C_2(\tau;q)C_2(t;q)}}$: Z_V and the overlaps with the
    states cancel. E and m are effective masses at t/2. nan where they do not exist.
    """
    moving, rest, two, two_at_rest = c[:, :sink + 1]
    energy, mass = ((exponential_mass(one)[sink // 2] if is_open else effective_mass(one)[sink // 2 - 1])
                    for one in c[2:])
    with np.errstate(invalid="ignore", divide="ignore"):
        turned = two / two_at_rest
        return (moving / rest * np.sqrt(turned[::-1] / (turned * turned[-1]))
                * 2 * np.sqrt(energy * mass) / (energy + mass))


def form_factor_estimates(table: Any, series: Mapping[str, Recorded]) -> Found:
    """Return two-point functions of a table [form_factors.NAME], Z_V and vector form factors, and sentences."""
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
            name = f"vector_t{sink}{ending}"
            found[name] = average(
                name, np.stack([series[f"{VECTOR}_t{sink}{ending}"].values.real, local,
                                series[f"two_point{ending}"].values.real, two_point], axis=1),
                lambda c, sink=sink: vector_form_factor(c, sink, is_open), axes=[tau],
                convention=f"vector form factor f(q^2) at momentum {k} in 2 pi / L, normalised by f(0) = 1")
            said.append(f"vector form factor, momentum {k}, at tau = {sink // 2}: {found[name].pick(tau=sink // 2)}")
    return found, said
