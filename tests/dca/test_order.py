"""Phases of broken symmetry: exact clusters in a field, the loop, the onset, and what is refused."""

import re

import numpy as np
import pytest
from general_cases import annihilators
from scipy.optimize import brentq

from plaq import dca
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.model import Model, cluster_of
from plaq.dca.lattice.order import form_factor
from plaq.dca.loop import ordering
from plaq.dca.physics.equations import equations_of
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.onset import onset
from plaq.dca.physics.order import OrderParameter
from plaq.errors import InputError

SPINS, PAIRS = "antiferromagnetic", "superconducting"


def parameters(kind, U, cluster, dca_section, order=None, model=None, **solver):
    return dca.Parameters(model={"U": U, "cluster": cluster} | (model or {}), order={"kind": kind} | (order or {}),
                          dca=dca_section, solver=solver, run={"workers": 1})


def exact(p, T):
    """Return averages of the isolated cluster in the field of its order, by brute force in Fock space."""
    cluster, order, h = cluster_of(p), p.hamiltonian.order, p.hamiltonian.order.seed
    n, hop = cluster.size, cluster.hopping_matrix().real
    c = annihilators(2 * n)
    number = [x.T @ x for x in c]
    bilinear = sum(hop[i, j] * c[i + s * n].T @ c[j + s * n] for s in (0, 1) for i in range(n) for j in range(n))
    double = sum(number[i] @ number[i + n] for i in range(n))
    if order.is_paired:  # c+_K,up c+_-K,dn = 1/N_c sum_ij exp(i K.(R_i - R_j)) c+_i,up c+_j,dn
        f = np.array([form_factor(order.symmetry, K) for K in cluster.momenta])
        phase = np.exp(1j * cluster.momenta @ cluster.sites.T)
        weights = (np.einsum("k,ki,kj->ij", f, phase, phase.conj()) / n).real
        raised = sum(weights[i, j] * c[i].T @ c[j + n].T for i in range(n) for j in range(n))
    else:
        raised = sum((-1.0) ** sum(R) * c[i].T @ c[i + n] for i, R in enumerate(cluster.sites))
    m = (raised + raised.T) / 2
    energy, states = np.linalg.eigh(bilinear + p.model.U * double - p.dca.mu * sum(number) - h * m)
    weight = np.exp(-(energy - energy[0]) / T)
    mean = lambda x: float(weight @ np.einsum("an,ab,bn->n", states, x, states, optimize=True) / weight.sum() / n)
    return {"density": mean(sum(number)), "double_occupancy": mean(double), "energy_kinetic": mean(bilinear),
            "energy": mean(bilinear + p.model.U * double), "order_parameter": mean(m)}


@pytest.mark.parametrize("kind, U, mu, cluster, order", [
    (PAIRS, 4.0, 1.2, [[2, 0], [0, 2]], {"symmetry": "d", "seed": 0.8}),
    (PAIRS, -4.0, -2.3, [[2, 0], [0, 1]], {"seed": 0.3}),
    (SPINS, 4.0, 1.4, [[1, 1], [1, -1]], {"seed": 0.4}),
])
def test_isolated_clusters_in_the_field_are_exact(kind, U, mu, cluster, order):
    p = parameters(kind, U, cluster, {"temperatures": [0.5], "mu": mu, "isolated": True}, order, measurements=6400)
    point = dca.run(p).points[0]
    for name, value in exact(p, 0.5).items():
        assert abs(point[name].mean - value) < 4 * point[name].error + 1e-9, name
    assert abs(point["order_identity"].mean) < 4 * point["order_identity"].error


@pytest.mark.parametrize("kind, U", [(SPINS, 3.0), (PAIRS, -3.0)])
def test_hartree_fock_is_the_gap_equation(kind, U):
    """Sigma at infinite frequency alone, in the bath of one site at half filling, against 1/|U| = <tanh(E/2T)/2E>."""
    T = 0.25
    p = parameters(kind, U, [[1, 0], [0, 1]], {"temperatures": [T], "density": 1})
    model, mesh = Model.of(p), matsubara.mesh(1 / T, 12.0)
    evaluation, order = Evaluation(model, mesh, 0.0, U / 2, None), OrderParameter(model.spinor.pattern, 1)
    model.coarse_graining.prepare(np.pi * T)
    occupations = np.array([[[[0.5, 0.3], [0.3, 0.5]]]])
    for _ in range(60):
        sigma = evaluation.equations.mean_field(np.full((2, 2), 0.5), occupations)[..., None] + 0j * mesh.omega
        g = model.coarse_graining.gbar(evaluation.lattice_z(sigma))
        occupations = evaluation.equations.algebra.equal_time(mesh, g).real
    k = 2 * np.pi * (np.arange(128) + 0.5) / 128
    band = -2 * (np.cos(k)[:, None] + np.cos(k))

    def excess(gap):
        E = np.hypot(band, gap)
        return np.mean(np.tanh(E / (2 * T)) / (2 * E)) - 1 / abs(U)

    gap = brentq(excess, 1e-3, abs(U))
    assert abs(order.value(np.eye(2) - occupations)) == pytest.approx(gap / abs(U), abs=1e-5)


@pytest.mark.parametrize("kind, U, symmetry", [(PAIRS, 6.0, "d"), (PAIRS, -6.0, "s"), (SPINS, 6.0, None)])
def test_the_field_has_all_symmetries_of_the_phase(kind, U, symmetry):
    p = parameters(kind, U, [[2, 2], [2, -2]], {"temperatures": [0.5], "density": 1}, {"symmetry": symmetry})
    model = Model.of(p)
    field = model.spinor.pattern[..., None] + 0j
    np.testing.assert_allclose(model.group.action.average(field), field, atol=1e-12)
    np.testing.assert_allclose(model.invariant(field), field, atol=1e-12)
    assert len(model.group.operations) == 8 and np.abs(field).max() == 0.5
    h = model.coarse_graining.h_mean[..., None]
    np.testing.assert_allclose(model.group.action.average(h), h, atol=1e-12)
    np.testing.assert_allclose(model.invariant(h), h, atol=1e-12)


@pytest.mark.parametrize("kind", [PAIRS, SPINS])
def test_the_bath_answers_as_the_bethe_salpeter_equation_has_it(kind):
    """A small ordered part x of Sigma gives 1/G0 the part x (1 - <G_a G_b> / <G_a><G_b>), means over a patch.

    The cluster's answer to that is G4. Order therefore sets in where an eigenvalue of Gamma <G_a G_b> is 1.
    """
    T, omega = 0.1, np.pi * 0.1 * (2 * np.arange(40) + 1)
    p = parameters(kind, 6.0, [[2, 0], [0, 2]], {"temperatures": [T], "mu": 2.0})
    ordered, normal = Model.of(p), Model.of(dca.Parameters(model={"U": 6.0}, dca={"temperatures": [T], "mu": 2.0}))
    for model in (ordered, normal):
        model.coarse_graining.prepare(np.pi * T)
    K, algebra = normal.cluster.momenta, equations_of(ordered).algebra
    sigma = 2.7 + 0.5 / (1j * omega + 0.5 * np.cos(K).sum(axis=1)[:, None])
    z, g = 1j * omega + 2.0 - sigma, normal.coarse_graining
    partner = normal.cluster.momentum_sum[:, normal.cluster.momentum_index(np.full(2, np.pi))]
    mean = g.gbar(z)
    other = mean.conj() if kind == PAIRS else mean[partner]
    both = g.chi0_pp(z, z.conj()) if kind == PAIRS else g.chi0_ph(z, z, partner[0])
    x = ordered.spinor.form[:, None] / (1 + omega**2)
    expected = x * (1 - both / (mean * other))

    def answer(size):
        matrix = np.zeros((1, len(K), 2, 2, len(omega)), dtype=complex)
        matrix[0, :, 0, 0], matrix[0, :, 1, 1] = sigma, -sigma.conj() if kind == PAIRS else sigma[partner]
        matrix[0, :, 0, 1] = matrix[0, :, 1, 0] = size * x
        mean = ordered.coarse_graining.gbar(algebra.at_frequencies_of(1j * omega + 2.0) - matrix)
        return (algebra.inverse(mean) + matrix)[0, :, 0, 1] / size

    np.testing.assert_allclose((4 * answer(0.01) - answer(0.02)) / 3, expected, atol=1e-6 * np.abs(expected).max())
    assert np.abs(expected).max() > 0.1


def test_attraction_and_repulsion_have_the_same_order_at_half_filling():
    """c_dn -> (-1)^i c+_dn maps pairs at -U onto spins at U: order that a site in its bath keeps without a field."""
    found = []
    for kind, U in ((SPINS, 4.0), (PAIRS, -4.0)):
        p = parameters(kind, U, [[1, 0], [0, 1]], {"temperatures": [0.1], "density": 1, "iterations": 14},
                       measurements=1600, chains=8)
        found.append(dca.run(p).points[0])
    spins, pairs = found
    assert spins["order_parameter"].mean > 0.2
    deviation = lambda a, b, name: (a - b) / np.hypot(spins[name].error, pairs[name].error)
    assert abs(deviation(spins["order_parameter"].mean, pairs["order_parameter"].mean, "order_parameter")) < 4
    assert abs(deviation(spins["double_occupancy"].mean, 0.5 - pairs["double_occupancy"].mean, "double_occupancy")) < 4
    assert abs(deviation(spins["energy_kinetic"].mean, pairs["energy_kinetic"].mean, "energy_kinetic")) < 4
    records = spins.history
    assert all(r["seeded"] for r in records[:3]) and not any(r["seeded"] for r in records[7:]), "half of 14"


def test_the_step_finds_a_slow_fixed_point():
    x, record, star = 2.0, [], 1.3
    for _ in range(3):
        y = star + 0.8 * (x - star)
        record.append({"seeded": False, "steady": True, "order_in": x, "order_out": y, "order_error": 0.003})
        x = y
    r = ordering.slope(record)
    assert 0.7 < r < 0.8 and abs(x + (star + 0.8 * (x - star) - x) / (1 - r) - star) < 0.5 * abs(x - star)
    assert ordering.slope([entry | {"seeded": True} for entry in record]) == 0
    assert ordering.slope([entry | {"order_error": 1.0} for entry in record]) == 0, "not known"
    assert not ordering.has_settled(record, 1.5), "a trend"
    assert ordering.has_settled([entry | {"order_out": entry["order_in"] + 1e-3} for entry in record], 1.5)
    order = OrderParameter(np.array([[[[0.0, -0.5], [-0.5, 0.0]]]]), 1)
    inputs, change = order.field(1.0)[None] + 0j, 1 + 0.1 * np.eye(2)[..., None]
    longer = ordering.accelerated(order, inputs * change * 0.95, inputs, 0.8)
    np.testing.assert_allclose(longer, inputs * (0.95 - 0.2)), "0.05/(1 - 0.8) in all"


def test_onset_of_a_square_root():
    T, rng = np.array([0.12, 0.15, 0.17, 0.18, 0.19, 0.2, 0.21]), np.random.default_rng(2)
    m = np.sqrt(np.maximum(1.2 * (0.196 - T) - 2 * (0.196 - T) ** 2, 0))
    error = np.full(len(T), 0.004)
    found = onset(T, m + error * rng.normal(size=len(T)), error, "T_N")
    assert abs(found.value - 0.196) < 3 * found.error < 0.01 and "a parabola" in found.sentence
    np.testing.assert_allclose(found.curve(T[:4]), m[:4], atol=0.012)
    assert "no order found" in onset(T[-2:], m[-2:], error[-2:], "T_N").sentence
    assert "two temperatures" in onset(T[:1], m[:1], error[:1], "T_N").sentence
    assert onset(T[:2], m[[2, 0]], error[:2], "T_N").value is None


@pytest.mark.parametrize("change, message", [
    ({"order": {"kind": "magnetic"}}, "order.kind"),
    ({"order": {"symmetry": "d"}}, "order.symmetry needs order.kind"),
    ({"order": {"kind": SPINS, "symmetry": "s"}}, "is one of pairs"),
    ({"order": {"kind": SPINS}, "model": {"field": 0.1}}, "model.field is not allowed"),
    ({"order": {"kind": SPINS}, "model": {"cluster": [[3, 0], [0, 1]]}}, "every vector needs an even sum"),
    ({"order": {"kind": PAIRS}, "model": {"cluster": [[1, 1], [1, -1]]}}, "cos K_x - cos K_y is 0"),
    ({"order": {"kind": PAIRS}, "model": {"lattice": "honeycomb"}}, "is for lattices of one orbital"),
    ({"order": {"kind": PAIRS}, "solver": {"kind": "ed"}, "dca": {"isolated": True, "mu": 1, "density": None}},
     'needs solver.kind = "ctint"'),
    ({"order": {"kind": PAIRS}, "solver": {"kind": "ctaux"}}, 'give solver.kind = "ctint"'),
    ({"order": {"kind": PAIRS}, "two_particle": {"channels": ["pp"]}}, "two_particle.channels"),
    ({"order": {"kind": PAIRS}, "dca": {"iterations": 5}}, "needs dca.iterations of 10 or more"),
])
def test_what_is_not_possible_is_refused(change, message):
    sections = {"model": {"U": 4.0}, "dca": {"temperatures": [0.5], "density": 0.9}}
    for section, keys in change.items():
        sections[section] = {k: v for k, v in ({**sections.get(section, {}), **keys}).items() if v is not None}
    with pytest.raises(InputError, match=re.escape(message)):
        dca.Parameters(**sections)
