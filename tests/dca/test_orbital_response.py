"""Response of the lattice with orbitals: bare vertices, exact clusters, free electrons, random phase approximation."""

from types import SimpleNamespace

import numpy as np
import pytest

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import Torus, build_interaction
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.transfers import assign, operation_to
from plaq.dca.parameters import Parameters
from plaq.dca.physics.bare_vertex import bare_vertex
from plaq.dca.physics.exact import exact_point, solved
from plaq.dca.physics.orbital_channels import add_blocks, in_pairs
from plaq.dca.physics.orbital_response import OrbitalFunctions, OrbitalResponse
from plaq.dca.solver.ed.model import exact_cluster
from plaq.dca.solver.ed.pairs import densities, density_pairs
from plaq.dca.solver.ed.two_particle import two_particle

HERE, RIGHT, LEFT = (0, 0), (1, 0), (-1, 0)
ATOM = {HERE: [[0.3, 0.5], [0.5, -0.2]]}
SMALL = 0.002


def kanamori(vectors, U, V=None):
    return build_interaction(Torus(vectors), [U, 0.7 * U], atoms=[0, 0], U_prime=0.5 * U, J=0.2 * U, kanamori=True, V=V)


def isolated(table, vectors, interaction):
    lattice = Lattice(table, tuple(map(str, range(np.shape(next(iter(table.values())))[-1]))))
    return SimpleNamespace(lattice=lattice, cluster=Cluster(lattice, vectors), interaction=interaction)


def exact_green(exact, model):
    """Return G(n) [K, a, b, n] at any n."""
    bands = len(model.lattice.orbitals)

    def green(n):
        g = exact.green_iw((2 * np.where(n < 0, -1 - n, n) + 1) * np.pi / exact.beta)
        g = np.where(n < 0, g.swapaxes(0, 1).conj(), g)
        return np.reshape(exact.to_momentum(g), (model.cluster.size, bands, bands, len(n)))

    return green


@pytest.mark.parametrize("table, vectors, interaction", [
    ({RIGHT: [[-1.0]], LEFT: [[-1.0]]}, ((3, 0), (0, 1)), build_interaction(
        Torus(((3, 0), (0, 1))), [SMALL], V={RIGHT: [[0.3 * SMALL]], LEFT: [[0.3 * SMALL]]})),
    (ATOM, ((1, 0), (0, 1)), kanamori(((1, 0), (0, 1)), SMALL))], ids=["sites", "orbitals"])
def test_a_weak_interaction_is_the_exact_vertex(table, vectors, interaction):
    """V between sites at every K and Q, Hund's coupling with spin flips and pair hopping; up to second order."""
    beta, n = 1.0, np.arange(-2, 2)
    model = isolated(table, vectors, interaction)
    exact = exact_cluster(model.cluster, interaction, 0.2, beta)
    green, Q = exact_green(exact, model), model.cluster.size - 1
    for kind, q, m in (("pp", Q, 1), ("magnetic", Q, 0), ("charge", Q, 1)):
        partners = model.cluster.momentum_difference[q] if kind == "pp" else model.cluster.momentum_sum[:, q]
        product = np.einsum("kabn,kcdn->kabcdn", green(n), green(m - 1 - n if kind == "pp" else n + m)[partners])
        g4 = two_particle(exact, kind, q, m, n)
        vertex = -np.linalg.inv(g4.reshape(2 * (round(g4.size**0.5),)))
        add_blocks(vertex, np.linalg.inv(in_pairs(product, kind == "pp")))
        bare = bare_vertex(model, kind, q, beta)
        found = vertex.reshape(len(bare), len(n), len(bare), len(n))
        np.testing.assert_allclose(found, np.broadcast_to(bare[:, None, :, None], found.shape), atol=2e-3 * SMALL)


def response(p, kind, q, window):
    """Return the model, and the response at the transfer nearest to q [2], at nu = 0."""
    model = Model.of(p)
    beta = 1 / p.dca.temperatures[0]
    model.coarse_graining.prepare(np.pi / beta)
    Q = int(model.group.representatives[model.cluster.nearest(q)[0]])
    (_, image), = assign(model.group, np.array([q]), [Q])[Q]
    return model, OrbitalResponse(model, beta, 12.0, kind, Q, 0, window, [image], [operation_to(model.group, q, image)])


def parameters(T, **model):
    isolated = model.pop("isolated", False)
    return Parameters(model=model, dca={"temperatures": [T], "mu": 0.4, "isolated": isolated},
                      solver={"kind": "ctint"}, two_particle={"channels": []})


def test_an_atom_with_two_orbitals_is_exact():
    """Static susceptibilities by orbital from the exact G4 of 8 frequencies, with those outside: 1 %."""
    T, window = 0.5, 8
    p = parameters(T, hopping={"0,0": [[0.3, 0.5], [0.5, -0.2]]}, U=2.0, J=0.3, kanamori=True, cluster=[[1, 0], [0, 1]],
                   isolated=True)
    for kind, signs in (("magnetic", [[0.25, -0.25], [-0.25, 0.25]]), ("charge", np.ones((2, 2)))):
        model, found = response(p, kind, np.zeros(2), window)
        exact = exact_cluster(model.cluster, model.interaction, 0.4, 1 / T)
        green = exact_green(exact, model)
        inverse = lambda f: np.moveaxis(np.linalg.inv(np.moveaxis(f, -1, 1)), 1, -1)
        h = model.coarse_graining.h_mean[0][..., None]
        functions = OrbitalFunctions(green, lambda n: inverse(green(n)) + h)
        g4 = two_particle(exact, kind, 0, 0, np.arange(-window, window))
        chi = found(functions, g4, found.references(functions, g4))
        n = densities(exact)
        static = density_pairs(exact)[1] - np.einsum("sa,tb->stab", n, n)[:, :, None] / T
        expected = np.einsum("st,strab->ab", signs, static)
        name = {"magnetic": "chi_s", "charge": "chi_c"}[kind]
        np.testing.assert_allclose(chi[f"{name}_orbital"][0], expected, atol=0.01 * np.abs(expected).max())


def free(model, T):
    """Return functions without Sigma, at mu = 0.4."""
    one = np.eye(model.lattice.bands)[None, :, :, None]
    shape = model.cluster.size, *one.shape[1:3]
    z = lambda n: np.broadcast_to(one * (1j * (2 * n + 1) * np.pi * T + 0.4), (*shape, len(n)))
    g = lambda n: model.coarse_graining.gbar(z(np.where(n < 0, -1 - n, n))[None])[0]
    return OrbitalFunctions(lambda n: np.where(n < 0, g(n).swapaxes(1, 2).conj(), g(n)), z)


PLANE = [[2, 0], [0, 2]]


@pytest.mark.parametrize("lattice, cluster, T, q", [
    ("bilayer", PLANE, 0.5, [0.9, 0.4]), ("kagome", PLANE, 0.5, [0.5, 0.2]), ("honeycomb", PLANE, 0.5, [2.0, 0.7]),
    ("chain", [[3]], 0.2, [0.7]), ("cubic", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1.0, [0.9, 0.4, -1.2])])
def test_free_electrons_have_the_lindhard_function_by_orbital(lattice, cluster, T, q):
    """At a q that is no momentum of the cluster, against a sum over a fine grid of the zone."""
    q = np.array(q)
    model, found = response(parameters(T, lattice=lattice, U=0.0, cluster=cluster), "charge", q, 4)
    functions = free(model, T)
    chi0 = found.with_outside(found.windows[0], lambda n: found.chi0_cluster(functions, found.windows[0], n))
    assert np.isfinite(chi0.outside).all()
    chi = found.susceptibility(np.zeros(2 * (9 * len(found.bare),)), found.on_lattice(
        functions, found.bubbles[0], found.windows[0]), 0)
    count = {1: 240, 2: 72, 3: 32}[len(q)]
    k = np.stack(np.meshgrid(*[np.arange(count) / count * 2 * np.pi] * len(q)), axis=-1).reshape(-1, len(q))

    def bands(k):
        e, u = np.linalg.eigh(np.moveaxis(model.lattice.elements(k), -1, 0))
        return e - 0.4, u, 1 / (np.exp((e - 0.4) / T) + 1)

    (e, u, f), (e2, u2, f2) = bands(k), bands(k + q)
    gap = e[:, :, None] - e2[:, None]
    flat = np.abs(gap) < 1e-6
    part = np.where(flat, f[:, :, None] * (1 - f[:, :, None]) / T,
                    (f2[:, None] - f[:, :, None]) / np.where(flat, 1, gap))
    # <n_a(q) n_b(-q)>: amplitudes a at k + q and k
    expected = 2 * np.einsum("xij,xaj,xai,xbj,xbi->ab", part, u2, u.conj(), u2.conj(), u, optimize=True) / len(k)
    np.testing.assert_allclose(chi, expected, atol=2e-4 * np.abs(expected).max())


def test_a_bare_vertex_makes_the_random_phase_approximation():
    """chi = chi0 (1 -+ U chi0)^-1 as matrices in the orbitals, by the window and the frequencies outside alike."""
    T, q = 0.5, np.array([0.9, 0.4])
    model, found = response(parameters(T, lattice="bilayer", U=1.5, cluster=[[2, 0], [0, 2]]), "magnetic", q, 3)
    functions, window = free(model, T), found.windows[0]
    chi0 = found.on_lattice(functions, found.bubbles[0], window)
    u = np.block([[np.repeat(np.repeat(found.bare, 6, axis=0), 6, axis=1), np.repeat(found.bare, 6, axis=0)],
                  [np.repeat(found.bare, 6, axis=1), found.bare]])
    free_chi = 2 * found.susceptibility(0 * u, chi0, 0)
    np.testing.assert_allclose(2 * found.susceptibility(u, chi0, 0),
                               np.linalg.solve(np.eye(2) - 1.5 * free_chi, free_chi), atol=1e-9)


@pytest.mark.parametrize("model", [
    {"lattice": "chain", "U": 4.0, "cluster": [[2]]},
    {"lattice": "cubic", "U": 4.0, "cluster": [[2, 0, 0], [0, 1, 0], [0, 0, 1]]},
    {"hopping": {"0,0": [[0.3, 0.5], [0.5, -0.2]]}, "U": 3.0, "J": 0.4, "kanamori": True, "cluster": [[1, 0], [0, 1]]}],
    ids=["chain", "cubic", "orbitals"])
def test_exact_functions_have_the_whole_chain(model):
    """By solver.kind = "ed": chi_c(0) is dn/dmu, chi_s(0) the static susceptibility; eigenvalues are there."""
    T, mu, step = 0.5, 1.3, 1e-3
    p = Parameters(model=model, dca={"temperatures": [T], "mu": mu, "isolated": True}, solver={"kind": "ed"},
                   two_particle={"channels": ["pp", "magnetic", "charge"], "momenta": [[0.0] * len(model["cluster"])],
                                 "frequencies": 4})
    kinds, whole = p.two_particle.channels, Model.of(p)
    point = exact_point(p, whole, 0, [(kind, 0, 0) for kind in kinds], p.two_particle.frequencies)
    above, below = (solved(whole, mu + x, 1 / T).density for x in (step, -step))
    assert point["chi_c"].mean[0, 0] == pytest.approx((above - below) / (2 * step), rel=0.01)
    assert point["chi_s"].mean[0, 0] == pytest.approx(point["spin_susceptibility"].mean[0], rel=0.01)
    for start in ("lambda_s", "lambda_magnetic_q0_m0_s", "lambda_charge_q0_m0_s"):
        names = [name for name in point.observables if name.startswith(start)]
        assert names and all(np.isfinite(point[name].mean) and point[name].error == 0 for name in names)
