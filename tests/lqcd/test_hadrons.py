"""Baryons, currents, three-point functions and loops against brute force, free fields and exact identities."""

import itertools

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator, propagator
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.measurements.baryons import baryon_correlator, baryon_correlators, baryon_tensor
from plaq.lqcd.measurements.charges import Charges
from plaq.lqcd.measurements.currents import conserved_correlator, ward_violation
from plaq.lqcd.measurements.disconnected import Disconnected, probing_bits, probing_vector
from plaq.lqcd.measurements.hadrons import Mesons
from plaq.lqcd.measurements.interpolators import OPERATORS, PROJECTORS, flavours_of, spin_projector
from plaq.lqcd.measurements.mesons import contract, meson_correlators, spin_tensors
from plaq.lqcd.measurements.workbench import Workbench

TINY = (4, 2, 2, 2)
THETA = (1, 0, 0, 0)


def thermal(extents, sweeps=4):
    gauge = lqcd.GaugeField(lqcd.Lattice(extents)).hot(seed=1)
    for sweep in range(sweeps):
        gauge.heat_bath(beta=5.8, seed=1, sweep=sweep)
    return gauge


@pytest.fixture(scope="module")
def tiny():
    return thermal(TINY)


def inverse(matrix):
    """All of M^-1 on the tiny lattice, [x, spin, colour, y, spin, colour] with sites t, x, y, z."""
    out = np.zeros((*TINY, 4, 3, *TINY, 4, 3), complex)
    for place in np.ndindex(*TINY, 4, 3):
        eta = np.zeros((*TINY, 4, 3), complex)
        eta[place] = 1
        out[(..., *place)] = lqcd.solve(matrix, lqcd.SpinorField(matrix.lattice).set_local(eta), 1e-11)[0].local()
    return out


@pytest.fixture(scope="module")
def inverses(tiny):
    """Inverses of a twisted doublet, by the sign of mu."""
    return {sign: inverse(lqcd.Wilson(tiny, 0.12, sign * 0.1, THETA, 1.0)) for sign in (1, -1)}


def parameters(extents, **tables):
    return lqcd.Parameters(lattice={"extents": extents}, action={"beta": 5.8}, **tables)


def test_the_conserved_current_has_its_ward_identity():
    """Exactly on a configuration, with clover term, twisted mass and phases, whatever the source."""
    gauge = thermal((6, 4, 2, 4))
    for mu in (0.0, 0.15):
        matrix = lqcd.Wilson(gauge, 0.13, mu, (1, 0, 0.4, 0), 1.3)
        for source in (Source("point", (2, 1, 0, 3)), Source("wall", (1, 0, 0, 0)), Source("z4", (5, 0, 0, 0), 3, 1),
                       Source("z2", (0, 0, 0, 0), 3, 1, 2, ())):
            S = propagator(matrix, source, 1e-11)
            pp = contract(spin_tensors(S)[0], gamma.GAMMA5, gamma.GAMMA5)
            current = conserved_correlator(gauge, S, S, "gamma5")
            assert ward_violation(current, pp, 2 * mu) < 1e-10
            assert ward_violation(current, pp, 2 * mu + 0.01) > 1e-4


def test_mesons_from_sums_are_those_of_the_spin_tensor():
    """All pairs at once, which no chunk of sixteen holds, and noise with one column for all spins."""
    gauge, momenta = thermal((4, 2, 4, 2)), [(0, 0, 0), (0, 1, 0)]
    matrix = lqcd.Wilson(gauge, 0.12, 0.1, THETA)
    S, other = (lqcd.point_propagator(matrix, (1, 0, 3, 1), residual) for residual in (1e-8, 1e-2))
    pairs = list(itertools.product(gamma.STRUCTURES, repeat=2))[:40]
    found, tensors = meson_correlators(S, pairs, other, momenta), spin_tensors(S, other, momenta)
    for i, (sink, source) in enumerate(pairs):
        expected = contract(tensors, gamma.STRUCTURES[sink], gamma.STRUCTURES[source])
        assert np.allclose(found[..., i], expected, rtol=1e-12, atol=1e-13)
    S = propagator(matrix, Source("z2", (0, 0, 0, 0), 1, dilution=("colour",)), 1e-6)
    expected = contract(spin_tensors(S)[0], gamma.STRUCTURES["gammat"], gamma.GAMMA5)
    assert np.allclose(meson_correlators(S, [("gammat", "gamma5")])[0, :, 0], expected, rtol=1e-12, atol=1e-13)


def wick(operator, S, projector):
    """The correlator of an operator at one site by all exchanges of quarks, with the signs of Grassmann numbers."""
    sign = {order: round(np.linalg.det(np.eye(3)[list(order)])) for order in itertools.permutations(range(3))}
    epsilon = np.zeros((3, 3, 3))
    for order, value in sign.items():
        epsilon[order] = value
    g0, total = gamma.GAMMA[0], 0
    for (sink, at_sink), (source, at_source) in itertools.product(operator.items(), repeat=2):
        if at_sink.shape[0] == 3:
            at_sink = np.einsum("ijab,jbcde->iacde", spin_projector(), at_sink)
        chi = np.einsum("hg,vgABC->vhABC", projector, at_sink)
        bar = np.einsum("vkpqr,kh,px,qy,rz->vhxyz", at_source.conj(), g0, g0, g0, g0, optimize="greedy")
        chi, bar = (np.einsum("vhABC,abc->vhAaBbCc", one, epsilon).reshape(-1, 12, 12, 12) for one in (chi, bar))
        for order in sign:
            if any(sink[i] != source[order[i]] for i in range(3)):
                continue
            joined = chi
            for i in range(3):  # the line from quark i of the sink, [12, 12]
                joined = np.tensordot(joined, S[sink[i]].reshape(12, 12), (1, 0))
            # q1 q2 q3 qbar3 qbar2 qbar1: the sign of the order in which pairs are joined
            total += sign[order] * np.sum(joined * bar.transpose(0, *(1 + i for i in order)))
    return total


@pytest.mark.parametrize("particle", OPERATORS)
def test_baryons_are_those_of_all_wick_contractions(particle):
    """Of three different random propagators on one site, so that none of the symmetries of equal quarks helps."""
    lattice, rng = lqcd.Lattice((2, 2, 2, 2)), np.random.default_rng(1)
    lines = {}
    for flavour in "uds":
        local = np.zeros((2, 2, 2, 2, 4, 3, 4, 3), complex)
        local[1, 0, 1, 0] = rng.normal(size=(4, 3, 4, 3)) + 1j * rng.normal(size=(4, 3, 4, 3))
        lines[flavour] = Propagator(lattice, (0, 0, 0, 0), local)
    tensor = baryon_tensor([lines[flavour] for flavour in flavours_of(particle)], [(0, 0, 0), (1, 0, 1)])
    at = {flavour: line.local[1, 0, 1, 0] for flavour, line in lines.items()}
    for name, projector in PROJECTORS.items():
        expected = wick(OPERATORS[particle], at, projector)
        found = baryon_correlator(tensor, particle, name)
        assert found[0] == pytest.approx([0, expected], rel=1e-11) and found[1, 1] == pytest.approx(expected, rel=1e-11)
        direct = baryon_correlators([lines[flavour] for flavour in flavours_of(particle)], [(particle, name)] * 17)
        assert np.allclose(direct, found[:, :, None], rtol=1e-12, atol=0)


@pytest.mark.parametrize("particle", ["nucleon", "xi", "delta"])
def test_equal_lines_take_fewer_coefficients(particle):
    """Lines of which two or three are one object, in any place, have the correlators of the whole tensor."""
    gauge = thermal((4, 2, 2, 2))
    S, other = (lqcd.point_propagator(lqcd.Wilson(gauge, kappa, theta=THETA), (1, 0, 1, 0), 1e-8)
                for kappa in (0.12, 0.1))
    kinds, momenta = [(particle, "minus"), (particle, "polarised"), (particle, "plus")], [(0, 0, 0), (0, 1, 0)]
    for lines in ([S, S, other], [other, S, S], [S, other, S], [S, S, S]):
        tensor, direct = baryon_tensor(lines, momenta), baryon_correlators(lines, kinds, momenta)
        for i, (name, projector) in enumerate(kinds):
            expected = baryon_correlator(tensor, name, projector)
            assert np.allclose(direct[..., i], expected, rtol=1e-11, atol=1e-13 * abs(expected).max())


def test_a_free_nucleon_has_the_mass_of_three_quarks():
    """m0 = ln(1 + m) each; beyond the boundary in time, from any source, and backwards with the other parity."""
    kappa, T = 0.11, 24
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice((T, 4, 4, 4))), kappa, theta=THETA)
    found = []
    for site in ((0, 0, 0, 0), (13, 1, 2, 3)):
        S = lqcd.point_propagator(matrix, site, 1e-12)
        found.append(baryon_correlator(baryon_tensor([S, S, S])[0]))
    assert np.allclose(*found, rtol=1e-8)
    masses = np.log(found[0][:-1] / found[0][1:]).real
    assert masses[7] == pytest.approx(3 * np.log(1 / (2 * kappa) - 3), abs=0.02) and (np.diff(masses[1:8]) < 0).all()
    minus = baryon_correlator(baryon_tensor([S, S, S])[0], projector="minus")
    assert np.allclose(-minus[:T // 2:-1], found[0][1:T // 2], rtol=1e-8)


def test_baryons_do_not_depend_on_the_gauge():
    gauge, rng = thermal((4, 4, 2, 2)), np.random.default_rng(2)
    lattice = gauge.lattice
    turn = np.linalg.qr(rng.normal(size=(*lattice.local, 3, 3)) + 1j * rng.normal(size=(*lattice.local, 3, 3)))[0]
    turn /= np.linalg.det(turn)[..., None, None] ** (1 / 3)
    U = gauge.local()
    turned = lqcd.GaugeField(lattice).set_local(np.stack(
        [turn @ U[..., mu, :, :] @ np.conj(np.swapaxes(np.roll(turn, -1, mu), -1, -2)) for mu in range(4)], axis=-3))
    values = []
    for field in (gauge, turned):
        S = lqcd.point_propagator(lqcd.Wilson(field, 0.12, theta=THETA), (1, 2, 0, 1), 1e-12)
        values.append(baryon_correlator(baryon_tensor([S, S, S])[0], "delta"))
    assert np.allclose(*values, rtol=1e-9)


def test_baryons_of_noise_are_refused():
    matrix = lqcd.Wilson(lqcd.GaugeField(lqcd.Lattice(TINY)), 0.1)
    S = lqcd.noise_propagator(matrix, 0, 1)
    with pytest.raises(InputError, match="with all spins and colours"):
        baryon_tensor([S, S, S])


@pytest.mark.parametrize("particle, mu", [("nucleon", 0.1), ("sigma", 0.0)])
def test_three_point_functions_are_those_of_all_propagators(tiny, particle, mu):
    """S(x, y) Gamma S(y, 0) in place of each quark in turn, with the whole inverse."""
    sink, site = 2, (3, 1, 0, 1)
    quark = {"kappa": 0.11, "mu": mu, "theta": [1, 0.3, 0, 0], "csw": 1.1}
    p = parameters(TINY, charges={"n": {**quark, "kappa_s": 0.1, "particle": particle, "sink_times": [sink],
                                       "structures": ["gammat", "gammazgamma5"], "momenta": [[0, 0, 0], [0, 0, 1]],
                                       "sources": [site], "residual": 1e-12}})
    found = Charges(p, "n").measure(Workbench(tiny, 1))
    kappas = {"u": (0.11, mu), "d": (0.11, -mu), "s": (0.1, 0.0)}
    whole = {f: inverse(lqcd.Wilson(tiny, kappa, m, quark["theta"], 1.1))
             for f, (kappa, m) in kappas.items() if f in flavours_of(particle)}
    of_line = [Propagator.from_fields(tiny.lattice, site, whole[f][(..., *site, slice(None), slice(None))],
                                      quark["theta"]) for f in flavours_of(particle)]
    for flavour, (structure, ending, projector), k, tau in itertools.product(
            dict.fromkeys(flavours_of(particle)), (("gammat", "", "plus"), ("gammazgamma5", "_polarised", "polarised")),
            (0, 1), (0, 1, 3)):
        expected, S = 0, whole[flavour]
        y = np.zeros(TINY, complex)
        y[(site[0] + tau) % 4] = np.exp(-2j * np.pi * k * (np.arange(2) - site[3]) / 2)
        inserted = np.einsum("txyzaiTXYZbj,bc,TXYZ,TXYZcjdk->txyzaidk", S, gamma.STRUCTURES[structure], y,
                             S[(..., *site, slice(None), slice(None))], optimize=True)
        current = Propagator.from_fields(tiny.lattice, site, inserted, quark["theta"])
        for at in range(3):
            if flavours_of(particle)[at] == flavour:
                lines = [current if i == at else line for i, line in enumerate(of_line)]
                expected += baryon_correlator(baryon_tensor(lines)[0], particle, projector)[sink]
        name = f"{flavour}_{structure}{ending}_t{sink}" + "_p0_0_1" * k
        assert found[name][tau] == pytest.approx(2 * kappas[flavour][0] * expected, rel=1e-7, abs=1e-12), name
    assert max(float(values) for name, values in found.items() if "ward" in name) < 1e-8


def test_charges_of_free_heavy_quarks_are_those_of_the_quark_model():
    """Conserved: two u and one d, exactly. Axial: 4/3 and -1/3 in the static limit, as ratios to the vector charge."""
    p = parameters((12, 4, 4, 4), charges={"n": {"kappa": 0.02, "sink_times": [4], "residual": 1e-12, "structures":
                                                 ["gammat", "gammazgamma5", "sigmaxy", "1"]}})
    found = Charges(p, "n").measure(Workbench(lqcd.GaugeField(lqcd.Lattice((12, 4, 4, 4))), 1))
    two = found["two_point"][4].real
    assert (found["u_conserved_t4"][:4] / two).real == pytest.approx([2] * 4, rel=1e-8)
    assert (found["d_conserved_t4"][:4] / two).real == pytest.approx([1] * 4, rel=1e-8)
    for flavour, axial in (("u", 4 / 3), ("d", -1 / 3)):
        vector = found[f"{flavour}_gammat_t4"][2].real / (2 if flavour == "u" else 1)
        assert found[f"{flavour}_gammazgamma5_polarised_t4"][2].imag / vector == pytest.approx(axial, rel=0.02)
        assert -found[f"{flavour}_sigmaxy_polarised_t4"][2].imag / vector == pytest.approx(axial, rel=0.02)


LOOPS = {"kappa": 0.12, "mu": 0.1, "csw": 1.0, "structures": ["1", "gamma5", "sigmaxy"],
         "momenta": [[0, 0, 0], [1, 0, 0]]}
WHOLE = {"dilution": ["spin", "colour"], "residual": 1e-12}


@pytest.mark.parametrize("settings", [{**WHOLE, "probing": 5}, {**WHOLE, "probing": 3, "time_dilution": 4},
                                      {**WHOLE, "probing": 5, "one_end": True}, {"vectors": 150, "residual": 1e-5},
                                      {"vectors": 150, "residual": 1e-5, "one_end": True, "noise": "z2"}])
def test_loops_are_those_of_the_whole_inverse(tiny, inverses, settings):
    """Exactly where dilution and probing separate all sites, else within four standard errors."""
    p = parameters(TINY, disconnected={"x": {**LOOPS, **settings}})
    found = Disconnected(p, "x").measure(Workbench(tiny, 1))
    S = inverses[1] - inverses[-1] if settings.get("one_end") else inverses[1]
    for structure, k in itertools.product(LOOPS["structures"], (0, 1)):
        turn = np.exp(-2j * np.pi * k * np.arange(2) / 2)
        exact = np.einsum("txyzaitxyzbi,ba,x->t", S, gamma.STRUCTURES[structure], turn)
        values = np.array(found[structure + "_p1_0_0" * k])
        error = values.std(axis=0) / np.sqrt(len(values)) if len(values) > 1 else 1e-11
        assert (np.abs(values.mean(axis=0) - exact) < 4 * error).all()


def test_probing_separates_sites_level_by_level():
    extents = (8, 4, 2, 4)
    assert len(probing_bits(extents)) == 8
    for n, same in ((1, lambda d: sum(d) % 2 == 0), (4, lambda d: all(x % 2 == 0 for x in d))):
        vectors = np.array([probing_vector(extents, number).ravel() for number in range(2**n)])
        overlap = (vectors.T @ vectors)[0].reshape(extents) / 2**n
        for d in np.ndindex(extents):
            assert overlap[d] == same(d)


def test_mesons_of_noise_and_points_agree_with_momentum_and_two_masses():
    """Free fields, within four standard errors; noise without dilution in spin has the source gamma5 alone."""
    extents = (6, 4, 2, 2)
    gauge, k = lqcd.GaugeField(lqcd.Lattice(extents)), [[0, 0, 0], [1, 0, 0]]
    quarks = {"kappa": 0.11, "kappa_2": 0.1, "momenta": k, "pairs": [["gammax", "gamma5"]], "residual": 1e-10}
    p = parameters(extents, mesons={"point": quarks, "noise": {**quarks, "source": "noise", "noise": "z2"},
                                    "all": {**quarks, "source": "noise", "dilution": []}})
    exact = Mesons(p, "point").measure(Workbench(gauge, 1))
    for name in ("noise", "all"):
        one = [Mesons(p, name).measure(Workbench(gauge, n)) for n in range(1, 25)]
        for quantity in ("gamma5", "gamma5_p1_0_0", "gammax_gamma5_p1_0_0"):
            values = np.array([found[quantity] for found in one])
            error = values.std(axis=0) / np.sqrt(23)
            assert (np.abs(values.mean(axis=0) - exact[quantity]) < 4 * error + 1e-9).all(), (name, quantity)
