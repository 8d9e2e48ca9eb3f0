"""Exact diagonalisation of general models: published numbers, symmetries, and H written out in one Fock space."""

import numpy as np
import pytest

from plaq.dca.inputs.table import SCHEMA
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.parameters import Parameters
from plaq.dca.physics.exact import exact_point
from plaq.dca.solver.ed.model import exact_cluster
from plaq.dca.solver.ed.pairs import densities, density_pairs

UP, DN = 0, 1


def solved(mu, beta, **model):
    def refuse(message):
        raise AssertionError(message)

    values = SCHEMA.read({"model": model, "dca": {"temperatures": [1.0]}}, "input.toml")
    h = read_hamiltonian(values["model"], refuse)
    cluster = Cluster(Lattice(h.table, h.orbitals, h.positions), h.vectors)
    return exact_cluster(cluster, h.interaction, mu, beta), h, cluster


def first(exact):
    """Return G(K) and Sigma(K) at the lowest frequency."""
    w = [np.pi / exact.beta]
    return (exact.to_momentum(f(w))[..., 0] for f in (exact.green_iw, exact.self_energy))


# CompFUSE/DCA, test/integration/cluster_solver/ctaux/square_lattice/Nc4_onSite_plus_nn/data.ED.hdf5 (bonds once)
@pytest.mark.parametrize("images, neighbours, at_X, at_Gamma", [
    ("once", 2, -0.88043858j, -0.12381453 - 0.01186684j), ("each", 4, -0.89030206j, -0.16862968 - 0.01154226j)])
def test_v_between_neighbours_of_a_plaquette(images, neighbours, at_X, at_Gamma):
    half = 1.0 + 0.1 * neighbours
    exact, _, _ = solved(half, 10.0, U=2.0, V={"1,0": 0.1, "0,1": 0.1}, V_images=images)
    g, sigma = first(exact)
    assert exact.density == pytest.approx(1.0, abs=1e-12)
    assert sigma[1] - half == pytest.approx(at_X, abs=2e-8) and sigma[0] - half == pytest.approx(at_Gamma, abs=2e-8)
    if images == "once":
        assert g[1] == pytest.approx(-0.83710179j, abs=2e-8)


@pytest.mark.parametrize("kanamori, double, unlike, alike, G", [
    (None, 0.0523459, 0.08194447, 0.41352461, 0.24118749 - 0.11501619j),
    (True, 0.05274207, 0.18362706, 0.31066294, 0.2408638 - 0.10940685j)])
def test_two_orbitals_with_and_without_spin_flips(kanamori, double, unlike, alike, G):
    exact, _, _ = solved(3.5, 5.0, U=4.0, J=1.0, kanamori=kanamori, cluster=[[2]],
                         hopping={"1": [[-0.5, 0], [0, -0.5]]})  # the bond is there twice
    equal, _ = density_pairs(exact)
    assert exact.density == pytest.approx(2.0, abs=1e-12)
    found = equal[UP, DN, 0, 0, 0], equal[UP, DN, 0, 0, 1], equal[UP, UP, 0, 0, 1], next(first(exact))[0, 0, 0]
    assert found == pytest.approx((double, unlike, alike, G), abs=2e-8)
    if not kanamori:
        assert (exact.kinetic_energy, exact.potential_energy) == pytest.approx((-1.05753362, 1.57359427), abs=2e-8)


def test_bilayer_bond():
    """One cell of two layers; half filling is U/2 + V."""
    half = 2.1
    exact, _, _ = solved(half, 2.0, U=4.0, lattice="bilayer", t=0.0, V={"0,0": [[0, 0.1], [0.1, 0]]},
                         cluster=[[1, 0], [0, 1]])
    g, sigma = first(exact)
    assert (g[0, 0, 0], g[0, 0, 1]) == pytest.approx((-0.26262296j, 0.1420787), abs=2e-8)
    assert sigma[0, 0, 1] == pytest.approx(-0.59357563, abs=2e-8)
    assert sigma[0, 0, 0].real == pytest.approx(half, abs=1e-10)


def test_attraction_is_repulsion_of_half_the_spins():
    exact, _, _ = solved(-2.0, 5.0, U=-4.0)
    repulsive, _, _ = solved(2.0, 5.0, U=4.0)
    g, _ = first(exact)
    assert exact.double_occupancy == pytest.approx(0.37568116, abs=1e-8)
    assert exact.double_occupancy == pytest.approx(0.5 - repulsive.double_occupancy, abs=1e-10)
    assert exact.total_energy == pytest.approx(-3.38165089, abs=1e-8)
    assert (g[1], g[0]) == pytest.approx((-0.37647058j, 0.22100115 - 0.03568435j), abs=1e-8)
    charge, spin = exact.to_momentum(exact.charge_susceptibility()), repulsive.to_momentum(
        repulsive.spin_susceptibility())
    assert charge[3] == pytest.approx(4 * spin[3], abs=1e-9)  # at (pi, pi)


def test_ground_state_of_a_ring():
    """GQCG/GQCP: Hubbard ring of 6 sites at half filling."""
    exact, _, _ = solved(1.75, 200.0, U=3.5, lattice="chain", cluster=[[6]])
    assert 6 * exact.total_energy == pytest.approx(-4.025796251, abs=1e-6)


MODELS = {
    "kanamori": {"cluster": [[2]], "hopping": {"0": [[0.1, 0.3], [0.3, -0.2]], "1": [[-0.7, 0.2], [0.4, -0.5]]},
                 "U": {"1": 4.0, "2": 3.0}, "U_prime": 1.7, "J": 0.6, "kanamori": True, "field": {"1": 0.4}},
    "complex": {"cluster": [[3]], "hopping": {"1": -1.0}, "hopping_down": {"1": -0.8}, "U": -2.0,
                "V": {"1": 0.5}, "field": 0.3},
    "honeycomb": {"lattice": "honeycomb", "cluster": [[2, 0], [0, 1]], "t_prime": 0.1, "U": 3.0,
                  "V": {"0,0": [[0, 0.4], [0.4, 0]], "1,0": [[0.2, 0], [0.3, 0.1]]}},
    "staggered": {"cluster": [[2, 0], [0, 2]], "U": 4.0, "staggered_field": 0.5, "V": {"1,0": 0.3, "0,1": 0.3}},
    "once": {"cluster": [[2, 0], [0, 2]], "U": 4.0, "V": {"1,0": 0.3, "1,1": -0.2}, "V_images": "each"},
}


def written_out(h, cluster, mu):
    """Return c [spin, mode, :, :] and H - mu N in the Fock space of all modes, from the terms of the input."""
    b, count = len(h.orbitals), cluster.size * len(h.orbitals)
    annihilate, parity, one = np.array([[0, 1.0], [0, 0]]), np.diag([1.0, -1.0]), np.eye(2)
    c = []
    for p in range(2 * count):
        matrix = np.eye(1)
        for q in range(2 * count):
            matrix = np.kron(matrix, annihilate if q == p else parity if q < p else one)
        c.append(matrix)
    c = np.array(c).reshape(2, cluster.size, b, *c[0].shape)
    n = np.swapaxes(c, -1, -2) @ c
    cells = [tuple(R) for R in cluster.sites]
    at = lambda R, d: cluster.site_index(np.add(R, d))
    H = -mu * n.sum(axis=(0, 1, 2))
    for spin in (UP, DN):
        for d, t in h.hopping[spin].items():
            H = H + sum(t[i][j] * c[spin, at(R, (0,) * len(d)), i].T @ c[spin, at(R, d), j]
                        for R in cells for i in range(b) for j in range(b))
    for p in h.interaction.pairs:
        H = H + sum(p.value * n[p.spin_a, at(R, (0,) * len(R)), p.a] @ n[p.spin_b, at(R, p.d), p.b] for R in cells)
    for e in h.interaction.exchanges:
        for R in range(cluster.size):
            up, dn = c[UP, R], c[DN, R]
            H = H + e.value * up[e.a].T @ up[e.b] @ dn[e.c].T @ dn[e.d]
    return c, H


@pytest.mark.parametrize("name", MODELS)
def test_against_h_in_one_fock_space(name):
    mu, beta = 0.7, 3.0
    exact, h, cluster = solved(mu, beta, **MODELS[name])
    c, H = written_out(h, cluster, mu)
    assert np.abs(H - H.T).max() < 1e-12
    energy, states = np.linalg.eigh(H)
    weight = np.exp(-beta * (energy - energy[0]))
    weight /= weight.sum()
    rotate = lambda x: states.T @ x @ states
    mean = lambda x: weight @ np.diagonal(rotate(x))
    n = np.swapaxes(c, -1, -2) @ c
    bands = len(h.orbitals)
    expected = [[mean(n[s, 0, a]) for a in range(bands)] for s in (UP, DN)]
    np.testing.assert_allclose(densities(exact), expected, atol=1e-10)
    assert exact.total_energy == pytest.approx(mean(H + mu * n.sum(axis=(0, 1, 2))) / cluster.size, abs=1e-10)
    equal, static = density_pairs(exact)
    gap = energy[:, None] - energy
    flat = abs(gap) < 1e-9
    kernel = np.where(flat, beta * weight[:, None], (weight - weight[:, None]) / np.where(flat, 1, gap))
    for s, t, R, a, b in np.ndindex(equal.shape):
        x, y = rotate(n[s, R, a]), rotate(n[t, 0, b])
        assert equal[s, t, R, a, b] == pytest.approx(weight @ np.diagonal(x @ y), abs=1e-10)
        assert static[s, t, R, a, b] == pytest.approx((kernel * x * y.T).sum(), abs=1e-9)
    omega = 3 * np.pi / beta
    for spin in (UP, DN):
        g = exact.green_iw([omega], spin)[..., 0]
        modes = [rotate(x) for x in c[spin].reshape(-1, *H.shape)]
        lehmann = (weight[:, None] + weight) / (1j * omega + energy[:, None] - energy)
        expected = [[(lehmann * x * y).sum() for y in modes] for x in modes]
        np.testing.assert_allclose(g, expected, atol=1e-10)


def test_density_is_found_with_orbitals():
    exact, _, _ = solved(0.0, 5.0, **MODELS["kanamori"])
    assert exact.at_density(2.7).density == pytest.approx(2.7, abs=1e-9)


def test_point_of_a_run_at_a_density():
    p = Parameters(model={"U": 4.0, "J": 1.0, "cluster": [[2]], "hopping": {"1": [[-0.5, 0], [0, -0.5]]}, "field": 0.2},
                   dca={"temperatures": [0.2], "isolated": True, "density": 2.0}, solver={"kind": "ed"})
    model = Model.of(p)
    point = exact_point(p, model, 0)
    assert point.mu == pytest.approx(3.5, abs=1e-9) and point["density"].mean == pytest.approx(2.0, abs=1e-9)
    assert point["G"].mean.shape[:4] == (2, 2, 2, 2) and [axis.name for axis in point["G"].axes] == [
        "spin", "K", "orbital", "orbital'", "omega"]
    assert point["magnetisation"].mean == pytest.approx(point["density_spin"].mean[0].sum() - 1, abs=1e-9)
    # at high frequencies Sigma is that of mean field
    sigma, w = point["Sigma"].mean[..., -1], point["Sigma"].axes[-1].values[-1]
    np.testing.assert_allclose(sigma.real, point["Sigma_infinity"].mean.real, atol=30 / w)
