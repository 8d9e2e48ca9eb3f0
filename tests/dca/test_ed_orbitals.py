"""Exact diagonalisation of general models: numbers of other programs, symmetries, and H written out in one Fock space."""

import numpy as np
import pytest

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.parameters import SCHEMA
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


def first(exact, sites=False):
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
        assert (exact.kinetic_energy, exact.potential_energy - 3.5 * 2) == pytest.approx((-1.05753362, 0), abs=9)
