"""Conductors whose surface lies between the nodes of the mesh, in electrostatic runs."""

import numpy as np
import pytest

from plaq import pic

MIDDLE = (4.58, 4.47, 4.53)  # of round electrodes, on no node
OUTER, VOLTAGE = 4.0, 0.5


def run(species=None, **sections):
    given = {"fields": {"solver": "electrostatic"}, "species": species or {"e": {"charge": -1, "mass": 1}},
             "time": {"end": 10, "step": 0.5}, "output": {"pictures": 0}}
    return pic.run(pic.Parameters(**given | sections))


def round_electrodes(cells, dimension, inner, **sections):
    """Return the results of a rod in a tube, or of a ball in a shell, with the voltage between them."""
    distance = " + ".join(f"({d} - {at})^2" for d, at in zip("xyz", MIDDLE[:dimension]))
    return run(grid={"cells": [cells] * dimension, "length": [9.0] * dimension, "patches": [2] * dimension},
               boundaries={d: "conducting" for d in "xyz"[:dimension]},
               conductor={"rod": {"where": f"{distance} <= {inner**2}"}, "tube": {"where": f"{distance} > {OUTER**2}"}},
               circuit={"rod": {"electrode": "rod", "source": VOLTAGE, "resistance": 1e-3}}, **sections)


@pytest.mark.parametrize(("dimension", "inner", "coarse", "fine", "bound"),
                         [(2, 1.0, 36, 72, 1.5e-3), (3, 2.0, 12, 24, 1e-2)])
def test_round_electrodes_converge(dimension, inner, coarse, fine, bound):
    """φ and C of a rod in a tube, V ln(R/r)/ln(R/a) and 2π/ln(R/a), and of a ball in a shell, V (1/r - 1/R)/(1/a - 1/R)
    and 4π/(1/a - 1/R): errors fall with the square of the cells."""
    errors = []
    for cells in (coarse, fine):
        h = 9.0 / cells
        at = [0.0, *(np.floor(m / h) * h for m in MIDDLE[1:dimension])]
        line = {"field": "phi", "at": [0.0, *MIDDLE[1:dimension]], "along": "x"}
        results = round_electrodes(cells, dimension, inner, probe={"line": line})
        x = np.arange(cells) * h
        r = np.sqrt((x - MIDDLE[0]) ** 2 + sum((a - m) ** 2 for a, m in zip(at[1:], MIDDLE[1:])))
        between = (r > inner) & (r < OUTER)
        potential = (lambda r: -np.log(r)) if dimension == 2 else (lambda r: 1 / r)
        whole = potential(inner) - potential(OUTER)
        phi, capacity = results["line"].values[-1], (2 if dimension == 2 else 4) * np.pi / whole
        assert phi[r <= inner] == pytest.approx(VOLTAGE, rel=1e-6) and np.abs(phi[r > OUTER]).max() < 1e-12
        errors.append([np.abs(phi - VOLTAGE * (potential(r) - potential(OUTER)) / whole)[between].max() / VOLTAGE,
                       abs(results["rod.charge"].values[-1] / (VOLTAGE * capacity) - 1)])
    errors = np.array(errors)
    assert (errors[1] < bound).all()
    assert (errors[0] > 2 * errors[1]).all()


@pytest.mark.parametrize("where", ["x > 0.637", "abs(x - 0.7) < 0.063"])
def test_a_plane_surface_is_where_the_formula_says(where):
    """φ of a capacitor is linear up to the surface; its charge is that of the gap, in one and two dimensions."""
    for dimension in (1, 2):
        grid = {"cells": [20, 4], "length": [1.0, 0.2], "patches": [4, 1]}
        sections = {"grid": {key: values[:dimension] for key, values in grid.items()},
                    "boundaries": {"x": "conducting", "potential_x": [0, 1]},
                    "conductor": {"plate": {"where": where, "potential": 1}},
                    "probe": {"phi": {"field": "phi", "at": [0.0] * dimension, "along": "x"}}}
        found = run(**sections)
        x, phi = np.arange(20) * 0.05, found["probe_phi"].values[-1]
        outside = x < 0.637
        assert phi[outside] == pytest.approx(x[outside] / 0.637, rel=1e-6)
        if "abs" in where:
            circuit = {"plate": {"electrode": "plate", "source": 1, "resistance": 1e-3}}
            driven = {"circuit": circuit, "conductor": {"plate": {"where": where}}}
            charge = run(**sections | driven)["plate.charge"].values[-1]
            assert charge == pytest.approx(0.2 ** (dimension - 1) / 0.637, rel=1e-6)


def test_particles_are_absorbed_at_the_surface():
    """Of test particles at rest those within the disc are absorbed, to the second order in the size of the cells."""
    found = []
    for cells in (16, 32):
        rest = {"e": {"charge": -1, "mass": 1, "density": 1.0, "per_cell": 400, "placed": "even", "test": True,
                      "moves": True}}
        results = run(rest, grid={"cells": [cells] * 2, "length": [4.0] * 2, "patches": [2, 2]},
                      boundaries={"x": "conducting", "y": "conducting"}, time={"end": 1e-6, "step": 1e-6},
                      conductor={"disc": {"where": "(x - 2.03)^2 + (y - 1.96)^2 < 1.2^2"}})
        found.append(results["e.absorbed_weight"].values.sum() / (np.pi * 1.2**2) - 1)
    assert abs(found[0]) < 0.02 and abs(found[1]) < 0.005


def test_a_wall_of_one_layer_of_nodes_is_a_grid():
    """It has a potential, and lets all particles through."""
    beam = {"species": "e", "at": [0.0], "normal": [1.0], "flux": 1e-6, "per_cell": 1e5, "drift": 0.1}
    results = run(grid={"cells": [20], "length": [1.0]}, boundaries={"x": "conducting"}, emission={"beam": beam},
                  conductor={"grid": {"where": "abs(x - 0.5) < 0.02"}}, time={"end": 40, "step": 0.05})
    assert results["e.absorbed"].values.sum() == 0 and results["e.left_weight_xhigh"].values.sum() > 0
