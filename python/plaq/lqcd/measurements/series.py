"""Series of measurements, a value for each configuration, as ``results.h5`` keeps them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd.measurements.correlators import AXIAL
from plaq.lqcd.measurements.potential import Loops
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.parameters import Parameters


def record_series(p: Parameters, plaquettes: np.ndarray, loops: Loops, mesons: Mapping[str, np.ndarray],
                  flow: np.ndarray, trajectories: np.ndarray) -> dict[str, Recorded]:
    """Return {name: series [configuration, ...]}, from the arguments of `plaq.lqcd.measurements.analysis.analyse`.

    Series of trajectories include those of thermalisation.
    """
    series_of = {}

    def add(name: str, values: np.ndarray, convention: str, *axes: Axis, unit: str = "",
             axis: str = "configuration") -> None:
        numbers = Axis(axis, np.arange(1, len(values) + 1))
        series_of[name] = Recorded(name, values, (numbers, *axes), unit, convention)

    add("plaquette", plaquettes.mean(axis=1), "Re tr P / 3 of each configuration")
    add("plaquette_temporal", plaquettes[:, 0], "of those with direction t")
    add("plaquette_spatial", plaquettes[:, 1], "of those without")
    add("polyakov", loops.polyakov, "Polyakov loop, real and imaginary part of tr L / 3 on average over space",
         Axis("part", np.arange(2)))
    if p.loops.space is not None:
        add("rectangle", loops.rectangles, "Re tr R / 3 of 2 x 1 rectangles")
        add("wilson_loops", loops.wilson, "Re tr W / 3 of loops of r sites in space and t in time",
             Axis("r", np.arange(1, p.loops.space + 1), "a"), Axis("t", np.arange(1, p.loops.time + 1), "a"))
    for name, series in mesons.items():
        content = "axial current and pseudoscalar source" if name == AXIAL else "sum over space"
        add(f"meson_{name.replace(', ', '_')}", series, f"two-point function, {content}, t from the source",
             Axis("t", np.arange(series.shape[1]), "a"))
    if (times := flow_times(p)).size:
        flow_axis = Axis("t", times, "a^2")
        add("flow_energy", flow[..., 0], "-tr F^2 on average over sites, clover, at flow times", flow_axis, unit="a^-4")
        add("flow_energy_plaquette", flow[..., 2], "2 Re tr (1 - P) of the six plaquettes of a site, on average over "
             "sites, at flow times", flow_axis, unit="a^-4")
        add("charge", flow[..., 1], "topological charge, clover, at flow times", flow_axis)
    if len(trajectories):
        add("delta_h", trajectories[:, 0], "H at the end less that at the beginning", axis="trajectory")
        add("accepted", trajectories[:, 1], "1: accepted", axis="trajectory")
    return series_of
