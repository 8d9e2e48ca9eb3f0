"""A run that evaluates the response of the lattice and keeps samples of its two-particle functions."""

import numpy as np
import pytest

from plaq import dca
from plaq.dca.results.response_figures import response_drawings
from plaq.errors import InputError

PAIRS = {"frequencies": 2, "channels": ["pp", "transverse", "charge", "upup", "updown"], "bosonic": [0, 1],
         "momenta": [[0, 0], [0.3, 0.1], [1, 0], [0, 1], [1, 1]], "samples": True}


def parameters(**pairs):
    return dca.Parameters(
        model={"U": 4}, dca={"temperatures": [0.5], "density": 0.95, "iterations": 3}, run={"workers": 1},
        solver={"measurements": 320, "measurements_first": 64, "chains": 16, "bins": 64, "warmup": 5},
        two_particle=PAIRS | pairs)


@pytest.fixture(scope="module")
def results():
    return dca.run(parameters(), progress=False)


def test_the_response_has_all_momenta_and_frequencies(results):
    point = results.at(0.5)
    for name in ("chi_s", "chi_c", "chi_pair_s", "chi_pair_d", "leading_magnetic", "leading_charge", "leading_pp"):
        estimate = point[name]
        assert estimate.mean.shape == (5, 2) and np.all(np.isfinite(estimate.mean)) and np.all(estimate.error >= 0)
        assert estimate.jackknife.shape == (16, 5, 2)
        assert np.allclose(estimate.axes[0].values / np.pi, PAIRS["momenta"])
        assert np.allclose(estimate.axes[1].values, [0, np.pi])
        assert estimate.mean[2] == pytest.approx(estimate.mean[3]), "(π,0) and (0,π) are equivalent"
    static, moving = point["chi_s"].mean.T
    assert np.all(static > 0.1) and np.all(moving[1:] > 0) and np.all(static > moving)
    assert abs(moving[0]) < 2e-3, "the total spin is conserved"
    assert point["leading_vector_pp"].mean.shape == (5, 2, 4, 4)


def test_equal_and_opposite_spins_add_up_to_the_channels(results):
    point = results.at(0.5)
    for q, m in ((0, 0), (3, 1)):
        equal, opposite = (point[f"G4_{kind}_q{q}_m{m}"].mean for kind in ("upup", "updown"))
        assert np.allclose(equal - opposite, point[f"G4_transverse_q{q}_m{m}"].mean, rtol=0, atol=1e-14)
        assert np.allclose(equal + opposite, point[f"G4_charge_q{q}_m{m}"].mean, rtol=0, atol=1e-14)
        assert f"lambda_upup_q{q}_m{m}_s" not in point


def test_samples_of_two_particle_functions_give_their_errors(results):
    point = results.at(0.5)
    for name in ("G4_pp", "G4_upup_q1_m0", "G4_charge_q3_m1"):
        estimate = point[name]
        spread = estimate.jackknife.real - estimate.jackknife.real.mean(axis=0)
        count = len(spread)
        assert count == 16
        assert np.allclose(estimate.error.real, np.sqrt((count - 1) / count * (spread**2).sum(axis=0)), rtol=1e-6)


def test_the_response_is_drawn(results):
    drawings = response_drawings(results)
    assert list(drawings) == ["lattice_susceptibilities", "leading_eigenvalues"]
    assert all(drawing.figure().axes for drawing in drawings.values())


def test_ranks_that_share_rows_keep_no_samples():
    with pytest.raises(InputError, match="keeps no samples"):
        dca.Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.95}, two_particle={"samples": True},
                       run={"two_particle": "distributed"})


def test_exact_diagonalisation_gives_the_response_of_its_cluster():
    point = dca.run(dca.Parameters(
        model={"U": 4, "cluster": [[2, 0], [0, 1]]}, dca={"temperatures": [0.5], "mu": 1.5, "isolated": True},
        solver={"kind": "ed"}, two_particle={"channels": ["magnetic", "charge", "updown"], "frequencies": 6,
                                             "momenta": [[0, 0], [1, 0]]}), progress=False).at(0.5)
    for name, direct in (("chi_s", "spin_susceptibility"), ("chi_c", "charge_susceptibility")):
        assert np.allclose(point[name].mean[:, 0], point[direct].mean, rtol=0, atol=3e-4)
        assert not point[name].error.any() and not point[name].note
    opposite = (point["G4_charge_q1_m0"].mean - point["G4_magnetic_q1_m0"].mean) / 2
    assert np.allclose(point["G4_updown_q1_m0"].mean, opposite, rtol=0, atol=1e-12)


def test_the_response_is_computed_again_from_kept_samples(results):
    """With the values of every group, at momenta that the run had and at others."""
    point = results.at(0.5)
    for channel, name in (("magnetic", "chi_s"), ("charge", "chi_c"), ("pp", "chi_pair_s")):
        for m in (0, 1):
            again, known = point.susceptibility(PAIRS["momenta"], channel, m), point[name].pick(nu=m)
            assert np.allclose(again.mean, known.mean, rtol=0, atol=1e-9)
            assert np.allclose(again.error, known.error, rtol=1e-3, atol=1e-9)
    assert point.susceptibility((1, 0), "pp", form="d").mean == pytest.approx(point["chi_pair_d"].mean[2, 0], abs=1e-9)
    between = point.susceptibility((0.6, 0.9))
    assert between.mean.shape == () and 0 < between.error < between.mean
    for bad, words in ((dict(channel="spin"), "not one of"), (dict(m=2), "no function at the transfer"),
                       (dict(form="p"), "form = 'p'")):
        with pytest.raises(InputError, match=words):
            point.susceptibility((1, 1), **bad)
    with pytest.raises(InputError, match="one momentum of two components"):
        point.susceptibility(1.0)
