"""Binomial filter, gather that conserves momentum."""

import numpy as np
import pytest

from plaq import pic


@pytest.mark.parametrize("passes, compensated, solver", [(1, False, "electromagnetic"), (4, True, "electromagnetic"),
                                                         (3, True, "electrostatic")])
def test_the_field_of_a_wave_is_filtered(passes, compensated, solver):
    """The field at t = 0 of a wave of k Δx = 2 π/16 has its filter's factor: cos²ⁿ(k Δx/2), times 1 + n sin²(k Δx/2)
    with compensation."""
    def field(**filtered):
        found = pic.run(pic.Parameters(
            grid={"cells": [32], "length": [3.2], "patches": [2]}, time={"end": 0.05, "step": 0.05},
            fields={"solver": solver, **({"of_charges": True} if solver == "electromagnetic" else {}), **filtered},
            species={"e": {"charge": -1, "mass": 1, "density": "1 + 0.1*cos(4*pi*x/3.2)", "per_cell": 4,
                           "placed": "even"}},
            probe={"line": {"field": "ex", "at": [0], "along": "x"}}, output={"pictures": 0}, run={"workers": 1}))
        assert np.nanmax(found["gauss"].values) < 1e-14
        return np.fft.rfft(found["line"].values[0])[2]

    half = np.pi / 16
    factor = np.cos(half) ** (2 * passes) * (1 + passes * np.sin(half) ** 2 if compensated else 1)
    found = field(filter_passes=passes, filter_compensation=compensated) / field()
    assert found == pytest.approx(factor, abs=1e-12)


def test_a_filter_keeps_gauss_law_between_conductors_and_in_layers():
    for sides in ({"x": "conducting", "y": "periodic"}, {"x": "conducting", "y": "absorbing", "layer": 4}):
        found = pic.run(pic.Parameters(
            grid={"cells": [20, 24], "length": [4, 4.8], "patches": [2, 2]}, time={"end": 3}, boundaries=sides,
            fields={"filter_passes": 3, "filter_compensation": True}, output={"pictures": 0}, run={"workers": 1},
            species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 4, "temperature": 0.04}}))
        assert np.nanmax(found["gauss"].values) < 1e-13


@pytest.mark.parametrize("filtered", [0, 2])
def test_a_gather_at_nodes_conserves_momentum(filtered):
    """Of a warm periodic electrostatic plasma, to rounding in all steps; that of energy conservation does not."""
    def change(gather):
        found = pic.run(pic.Parameters(
            grid={"cells": [32, 8], "length": [3.2, 0.8], "patches": [2, 2]}, time={"end": 20},
            solver={"gather": gather}, fields={"solver": "electrostatic", "filter_passes": filtered},
            species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 8, "temperature": 0.01}},
            output={"pictures": 0, "gauss": False}, run={"workers": 1}))
        momentum = np.stack([found[f"e.p{d}"].values for d in "xy"])
        return np.abs(momentum - momentum[:, :1]).max() / (found["e.weight"].values[0] * 0.1)

    assert change("momentum") < 1e-12 < 1e-4 < change("energy")
