"""Density of states in place of a band: the semicircle, a file, half filling, refusals, short runs."""

import numpy as np
import pytest
from scipy.special import ellipkm1

from plaq.dca import commands
from plaq.dca.lattice.chemical_potential import find_mu, free_mu
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.density_of_states import DensityOfStates
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import mesh
from plaq.dca.lattice.model import Model, cluster_of
from plaq.dca.parameters import Parameters
from plaq.dca.physics.high_temperature import moments
from plaq.errors import InputError

SITE = [[1, 0], [0, 1]]


def parameters(states="bethe", model={}, **dca):
    return Parameters("input.toml", model={"U": 4.0, "cluster": SITE, "density_of_states": states, **model},
                      dca={"temperatures": [0.1], **({"density": 1.0} | dca)}, two_particle={"channels": []})


def semicircle(z, D):
    """G of the Bethe lattice, the branch that decays."""
    return 2 * (z - 1j * np.sign(z.imag) * np.sqrt(D**2 - z**2)) / D**2


def square_file(path, rows=4001):
    """rho of the square lattice, K(1 - e^2/16)/(2 pi^2), as a table that leaves the logarithm at 0 out."""
    e = np.sort(np.concatenate([-(x := 4 * np.linspace(0, 1, rows) ** 3)[1:], x[1:]]))
    rho = ellipkm1((e / 4) ** 2) / (2 * np.pi**2)  # K(m) with m = 1 - e^2/16
    path.write_text("# energy, density\n" + "\n".join(f"{a:.15g} {b:.15g}" for a, b in zip(e, rho)))
    return str(path)


@pytest.mark.parametrize("t", [1.0, 0.5])
def test_the_semicircle_is_exact(t):
    model = Model.of(parameters(model={"t": t}))
    w = np.pi * 0.03 * np.array([1, 3, 21, 301])
    model.coarse_graining.prepare(w[0])
    for shift in (0.0, 0.7, -2.5):
        z = (1j * w + shift)[None]
        g = semicircle(z, 2 * t)
        assert np.abs(model.coarse_graining.gbar(z) - g).max() < 1e-9
        assert np.abs(model.coarse_graining.eps_gbar(z) - (z * g - 1)).max() < 1e-8
    assert model.coarse_graining.eps_second[0] == pytest.approx(t**2) and model.lattice.largest_energy == 2 * t
    assert moments(parameters(model={"t": t})).hops == pytest.approx(2 * t**2) and model.mirror.tolist() == [0]


def test_a_file_gives_what_its_band_gives(tmp_path):
    p = parameters(square_file(tmp_path / "square.dat"))
    assert p.unit == "" and isinstance(p.model.density_of_states, tuple), "the run needs the file no more"
    assert Parameters("again", **{k: v for k, v in p.explicit.items()}).fingerprint() == p.fingerprint()
    over, band = Model.of(p).coarse_graining, CoarseGraining(Cluster(Lattice.square(), SITE))
    w = np.pi * 0.05 * np.array([1, 3, 21])
    for c in (over, band):
        c.prepare(w[0])
    for shift in (0.0, 1.3):
        z = (1j * w + shift)[None]
        assert np.abs(over.gbar(z) - band.gbar(z)).max() < 2e-5
        assert np.abs(over.chi0_pp(z, z.conj()) - band.chi0_pp(z, z.conj())).max() < 1e-3
    assert over.eps_second[0] == pytest.approx(4, abs=1e-4) and abs(over.eps_mean[0]) < 1e-12
    assert free_mu(cluster_of(p).lattice, 0.1, 0.7) == pytest.approx(free_mu(Lattice.square(), 0.1, 0.7), abs=2e-3)


def test_symmetry_of_a_table_decides_on_half_filling():
    flat = [[-1.0, 0.5], [1.0, 0.5]]
    assert DensityOfStates.of(parameters(flat).model).is_symmetric and Model.of(parameters(flat)).mirror is not None
    ramp = [[-1.0, 0.0], [1.0, 1.0]]
    model = Model.of(parameters(ramp))
    assert model.mirror is None and model.coarse_graining.eps_mean[0] == pytest.approx(1 / 3)
    grid = mesh(10.0, 8.0)
    model.coarse_graining.prepare(np.pi / 10)
    mu = find_mu(1.0, model.coarse_graining, grid, np.zeros((1, len(grid.omega)), complex))
    assert mu == pytest.approx(free_mu(model.lattice, 0.1, 1.0), abs=1e-6)


@pytest.mark.parametrize("content, words", [
    ("1 2\n0 1\n", "row 2: the energy 0 must be above"), ("0 1 2\n", "line 1 is not two numbers"),
    ("0 -1\n1 3\n", "density must be ≥ 0"), ("0 2\n1 2\n", "its integral is 2"), ("# none\n", "0 rows")])
def test_a_bad_file_is_refused_in_a_line(tmp_path, content, words):
    path = tmp_path / "states.dat"
    path.write_text(content)
    with pytest.raises(InputError, match="model.density_of_states = .*states.dat: .*" + words):
        parameters(str(path))


@pytest.mark.parametrize("change, words", [
    ({"cluster": [[2, 0], [0, 2]]}, "cluster of one site"), ({"t_prime": 0.2}, "leave out model.t_prime"),
    ({"density_of_states": "semicircle"}, 'neither "bethe" nor a file'), ({"U": -1.0}, "one band with U ≥ 0")])
def test_what_does_not_go_with_it_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        parameters(model=change)


def run(p, **solver):
    return commands.run(p.replace(solver={"measurements": 1024, **solver}, run={"workers": 1}), progress=False)


def test_free_electrons_on_the_bethe_lattice():
    point = run(parameters(model={"U": 0.0}, density=0.8)).points[0]
    x, w = DensityOfStates(2.0).rule(0.01)
    f = 1 / (np.exp(10 * (x - point.mu)) + 1)
    assert 2 * w @ f == pytest.approx(0.8, abs=1e-7)
    assert float(point["energy"].mean) == pytest.approx(2 * w @ (x * f), abs=1e-7)


def test_a_narrow_band_is_an_atom():
    p = parameters(model={"t": 0.01}, temperatures=[0.5])
    point = run(p).points[0]
    docc = 1 / (2 + 2 * np.exp(4.0 / 2 / 0.5))  # states 0, up, down, 2 of weight 1, e^(U/2T), e^(U/2T), 1
    assert float(point["double_occupancy"].mean) == pytest.approx(docc, abs=5 * float(point["double_occupancy"].error))
    assert float(point["density"].mean) == pytest.approx(1.0, abs=1e-6)


def test_weak_coupling_on_the_bethe_lattice():
    U, beta, tau = 0.5, 4.0, np.linspace(0, 4.0, 2001)
    point = run(parameters(model={"U": U}, temperatures=[1 / beta]), measurements=32_768).points[0]
    x, w = DensityOfStates(2.0).rule(0.05)
    g = np.exp(-np.outer(tau, x)) / (1 + np.exp(-beta * x)) @ w  # D = 1/4 - U int G(tau)^2 G(beta - tau)^2 + O(U^3)
    docc = point["double_occupancy"]
    assert float(docc.mean) == pytest.approx(0.25 - U * np.trapezoid((g * g[::-1]) ** 2, tau),
                                             abs=4 * float(docc.error) + 2e-4) and float(docc.error) < 5e-4


def test_the_loop_closes_on_the_semicircle():
    point = run(parameters(model={"U": 2.0}, temperatures=[0.25]), measurements=8192).points[0]
    g, sigma = point["G"], point["Sigma"]
    bath = 1j * g.axes[1].values + point.mu - g.mean  # t = 1: 1/bath = iw + mu - t^2 G
    off = np.abs(bath - sigma.mean - 1 / g.mean) / np.hypot(np.abs(sigma.error), np.abs(g.error))
    assert off[0, :6].max() < 5
