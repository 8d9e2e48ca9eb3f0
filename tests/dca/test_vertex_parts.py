"""Decomposition of the pairing vertex: crossing, weak coupling, free electrons, and a run."""

import functools

import numpy as np
import pytest

from plaq import dca
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.model import Model
from plaq.dca.parameters import Parameters
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_response import LatticeFunctions
from plaq.dca.physics.susceptibility import Window
from plaq.dca.physics.vertex_parts import PARTS, Decomposition, needed_functions
from plaq.dca.results.response_figures import response_drawings
from plaq.dca.solver import ed
from plaq.errors import InputError

SITE, DIMER = ((1, 0), (0, 1)), ((2, 0), (0, 1))
BETA = 3.0


@functools.cache
def exact(U, vectors, window):
    """Return (decomposition, functions, pairing G4, all others) of an isolated cluster away from half filling."""
    mu = U / 2 + 0.3
    p = Parameters("x", model={"U": U, "cluster": [list(v) for v in vectors]},
                   dca={"temperatures": [1 / BETA], "mu": mu, "isolated": True})
    model = Model.of(p)
    mesh = matsubara.mesh(BETA, matsubara.frequency_cutoff(model.lattice, U, mu))
    model.coarse_graining.prepare(np.pi / BETA)
    cluster = ed.ExactCluster(model.cluster.hopping_matrix(), U, mu, BETA, fourier=model.cluster.fourier)
    g = cluster.to_momentum(cluster.green_iw(mesh.omega))
    sigma = 1j * mesh.omega + mu - model.cluster.energies[:, None] - 1 / g
    evaluation = Evaluation(model, mesh, 0.0, mu, None)
    functions = LatticeFunctions.of(evaluation, g, sigma, np.full(len(g), U * cluster.density / 2))
    needed = needed_functions(model.group, window)
    g4 = {which: ed.two_particle(cluster, *which, np.arange(-window, window)) for which in [("pp", 0, 0), *needed]}
    return Decomposition(evaluation, window, needed), functions, g4


def parts_of(decomposition, functions, g4):
    return decomposition(functions, g4["pp", 0, 0][:, decomposition.window:].real,
                         [g4[which] for which in decomposition.needed])


@pytest.mark.parametrize("vectors, window", [(SITE, 3), (DIMER, 1)], ids=["site", "dimer"])
def test_channels_are_one_full_vertex_by_crossing(vectors, window):
    """F_pp(k, k') = -F_m(k, k'; -k-k') = 1/2 (F_c - F_m)(k', -k; k-k'), to rounding, at U = 4."""
    decomposition, functions, g4 = exact(4.0, vectors, window)
    full = {}
    for which, values in g4.items():
        chi0 = decomposition._solved(which, functions, values).chi0[:-1]
        size = len(chi0)
        if which == ("charge", 0, 0):
            g = functions.g(np.arange(-window, window))
            values = values - 2 * g[:, :, None, None] * g
        full.setdefault(which[0], {})[which[1:]] = (values.reshape(size, size) - np.diag(chi0)) / np.outer(chi0, chi0)
    direct = full["pp"][0, 0].reshape(g4["pp", 0, 0].shape)
    longitudinal = {kind: decomposition._longitudinal(full[kind]) for kind in ("magnetic", "charge")}
    assert np.abs(direct).max() > 0.5
    assert np.allclose(-decomposition._transverse(full["magnetic"]), direct, rtol=0, atol=1e-11)
    assert np.allclose((longitudinal["charge"] - longitudinal["magnetic"]) / 2, direct, rtol=0, atol=1e-11)


@pytest.mark.parametrize("vectors, window", [(SITE, 3), (DIMER, 1)], ids=["site", "dimer"])
def test_parts_add_up_to_the_vertex(vectors, window):
    decomposition, functions, g4 = exact(4.0, vectors, window)
    parts = parts_of(decomposition, functions, g4)
    assert np.allclose(sum(parts[name] for name in PARTS), parts["total"], rtol=0, atol=1e-13)
    for part in parts.values():
        same = part[..., window:]
        assert np.allclose(same, same.transpose(2, 3, 0, 1), rtol=0, atol=1e-13)


@pytest.mark.parametrize("U", [0.05, 0.1])
def test_exchange_is_that_of_second_order_at_weak_coupling(U):
    """Spin: -(U/(beta N_c))^2 (X(k+k') + X(k-k')/2), charge: + X(k-k')/2, rest: -U; to O(U^3)."""
    decomposition, functions, g4 = exact(U, DIMER, 1)
    parts, group = parts_of(decomposition, functions, g4), decomposition.group
    scale = BETA * group.cluster.size
    bubble = {}
    for (kind, q, m), response in decomposition._responses.items():
        if kind == "magnetic":
            window = Window(1, m, False, 40)
            total = lambda n, r=response, w=window: r.chi0_cluster(functions, w, n).sum(axis=0)
            sums = total(window.n).sum() + window.sum_outside(total)
            bubble[q, m] = np.full((4, 4), sums / scale)
    forward = decomposition._symmetrised(decomposition._longitudinal(bubble))
    crossed = decomposition._symmetrised(decomposition._transverse(bubble))
    for name, second in (("magnetic", -(crossed + forward / 2)), ("charge", forward / 2), ("irreducible", 0 * forward)):
        first = -U if name == "irreducible" else 0.0
        assert np.allclose(scale * parts[name] - first, U**2 * second, rtol=0, atol=0.6 * U**3), name
    assert U**2 * np.abs(forward).max() > 3 * 0.6 * U**3


def test_free_electrons_have_no_vertex():
    assert all(np.abs(part).max() < 1e-9 for part in parts_of(*exact(0.0, DIMER, 1)).values())


def parameters(pairs, **rest):
    return Parameters("x", **{
        "model": {"U": 2}, "dca": {"temperatures": [0.5], "density": 0.95, "iterations": 3},
        "solver": {"measurements": 320, "measurements_first": 64, "chains": 16, "bins": 64, "warmup": 5},
        "run": {"workers": 1}, "two_particle": {"frequencies": 2, "decomposition": True} | pairs} | rest)


def test_a_run_reports_contributions_that_add_up_to_the_eigenvalue():
    results = dca.run(parameters({"channels": ["pp", "magnetic"]}), progress=False)
    point = results.at(0.5)
    for name, tail in (("lambda_d", ""), ("vertex_d", ""), ("vertex_pp", ""), ("vertex_d", "_window")):
        parts, whole = [point[f"{name}_{part}{tail}"] for part in PARTS], point[f"{name}{tail}"]
        assert np.allclose(sum(part.jackknife for part in parts), whole.jackknife, rtol=0, atol=1e-10)
        assert np.allclose(sum(part.mean for part in parts), whole.mean, rtol=0, atol=1e-10)
    assert 0 < point["lambda_d_magnetic"].error < 0.2 and np.isfinite(point["lambda_d_charge_window"].error)
    assert point["vertex_pp_charge"].mean.shape == (4, 4)
    assert [name for name in point.observables if name.startswith("G4_")] == ["G4_pp", "G4_magnetic_q0_m0"]
    assert response_drawings(results)["pairing_vertex"].figure().axes


def test_exact_diagonalisation_has_the_decomposition():
    point = dca.run(parameters({"channels": ["pp"], "frequencies": 1}, model={"U": 2, "cluster": [[2, 0], [0, 1]]},
                               dca={"temperatures": [0.5], "mu": 1.2, "isolated": True}, solver={"kind": "ed"}),
                    progress=False).at(0.5)
    assert np.allclose(sum(point[f"vertex_pp_{part}"].mean for part in PARTS), point["vertex_pp"].mean)
    assert not point["vertex_pp_magnetic"].error.any()


@pytest.mark.parametrize("pairs, run, words", [
    ({"channels": ["pp"]}, {"U": -2}, "one band with U ≥ 0 only"),
    ({"channels": ["magnetic"]}, {}, "two_particle.decomposition = true needs pairing at q = 0"),
    ({"channels": ["pp"], "transfers": [[1, 1]]}, {}, "two_particle.decomposition = true needs pairing at q = 0"),
    ({"channels": ["pp"]}, {"two_particle": "distributed"}, "has no whole function on a rank"),
])
def test_a_decomposition_without_its_functions_is_refused(pairs, run, words):
    with pytest.raises(InputError, match=words):
        parameters(pairs, **({"model": run} if "U" in run else {"run": run}))
