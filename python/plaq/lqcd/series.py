"""Series of measurements, a value for each configuration, as ``results.h5`` keeps them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd.correlators import AXIAL
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.potential import Loops
from plaq.lqcd.scales import flow_times


def recorded(p: Parameters, plaquettes: np.ndarray, loops: Loops, mesons: Mapping[str, np.ndarray], flow: np.ndarray,
             trajectories: np.ndarray) -> dict[str, Recorded]:
    """{name: series}, from the arguments of `plaq.lqcd.analysis.findings`: [configuration, ...], and of trajectories
    all of them, those of thermalisation too."""
    found = {}

    def keep(name: str, values: np.ndarray, convention: str, *axes: Axis, unit: str = "",
             of: str = "configuration") -> None:
        numbers = Axis(of, np.arange(1, len(values) + 1))
        found[name] = Recorded(name, values, (numbers, *axes), unit, convention)

    keep("plaquette", plaquettes.mean(axis=1), "Re tr P / 3 of each configuration")
    keep("plaquette_temporal", plaquettes[:, 0], "of those with direction t")
    keep("plaquette_spatial", plaquettes[:, 1], "of those without")
    keep("polyakov", loops.polyakov, "Polyakov loop, real and imaginary part of tr L / 3 on average over space",
         Axis("part", np.arange(2)))
    if p.loops.space is not None:
        keep("rectangle", loops.rectangles, "Re tr R / 3 of 2 x 1 rectangles")
        keep("wilson_loops", loops.wilson, "Re tr W / 3 of loops of r sites in space and t in time",
             Axis("r", np.arange(1, p.loops.space + 1), "a"), Axis("t", np.arange(1, p.loops.time + 1), "a"))
    for name, series in mesons.items():
        of = "axial current and pseudoscalar source" if name == AXIAL else "sum over space"
        keep(f"meson_{name.replace(', ', '_')}", series, f"two-point function, {of}, t from the source",
             Axis("t", np.arange(series.shape[1]), "a"))
    if (times := flow_times(p)).size:
        axis = Axis("t", times, "a^2")
        keep("flow_energy", flow[..., 0], "-tr F^2 on average over sites, clover, at flow times", axis, unit="a^-4")
        keep("flow_energy_plaquette", flow[..., 2], "2 Re tr (1 - P) of the six plaquettes of a site, on average over "
             "sites, at flow times", axis, unit="a^-4")
        keep("charge", flow[..., 1], "topological charge, clover, at flow times", axis)
    if len(trajectories):
        keep("delta_h", trajectories[:, 0], "H at the end less that at the beginning", of="trajectory")
        keep("accepted", trajectories[:, 1], "1: accepted", of="trajectory")
    return found
