"""Numbers that a single bin decides, and the notes on what has heavy tails."""

import numpy as np
import pytest
import synthetic

from plaq.data.estimate import Estimate
from plaq.dca.physics import checks
from plaq.dca.physics.observables import TAILS, marked
from plaq.dca.physics.pair_estimates import crossed


def estimate(name, bins, kurtosis=None):
    """The mean of bins, with its jackknife."""
    left_out = (np.sum(bins) - bins) / (len(bins) - 1)
    error = np.sqrt((len(bins) - 1) / len(bins) * np.sum((left_out - left_out.mean()) ** 2))
    return Estimate(name, np.mean(bins), error, left_out, kurtosis=kurtosis)


def test_the_largest_bin_is_left_out_with_its_bar():
    bins = np.random.default_rng(1).normal(size=64)
    bins[7] = 30.0
    others = np.delete(bins, 7)
    found = checks.largest_bin(estimate("energy", bins))
    assert found.value == pytest.approx(others.mean()) and found.error == pytest.approx(others.std(ddof=1) / 63**0.5)
    assert found.moves == pytest.approx((bins.mean() - others.mean()) / found.error)
    assert 0.9 < found.weight < 1


@pytest.mark.parametrize("draw", [lambda rng, n: rng.normal(size=n), lambda rng, n: rng.exponential(size=n),
                                  lambda rng, n: rng.standard_t(10, size=n)])
@pytest.mark.parametrize("bins", [16, 64])
def test_ordinary_numbers_are_never_in_doubt(draw, bins):
    rng = np.random.default_rng(2)
    assert max(checks.largest_bin(estimate("energy", draw(rng, bins))).moves for _ in range(2000)) < checks.MOVED


def test_the_doubt_names_the_numbers_with_and_without():
    point = synthetic.point(synthetic.parameters(), 0)
    assert checks.heavy_tails(point) == {}
    bins = np.full(64, 0.5) + 1e-3 * np.random.default_rng(3).normal(size=64)
    bins[3] = 5.0
    for name in ("energy", "lambda_s", "density", "sign"):  # signs have no tails
        point.observables[name] = estimate(name, bins)
    found = checks.heavy_tails(point)
    assert set(found) == {"energy", "lambda_s", "density"}
    text = checks.tails_in_words(found)
    assert text.startswith("heavy tails, a single bin decides density 0.57(7), without it 0.4999")
    assert text.endswith(", and 1 more")
    assert any(warning == text for warning in checks.warnings(point))
    for name in found:
        point.observables[name] = estimate(name, 0.5 + 1e-7 * bins)  # known to 1e-8 whatever that bin says
    assert checks.heavy_tails(point) == {}


def test_kurtosis_alone_is_a_note_and_no_doubt():
    rng = np.random.default_rng(4)
    found = {name: estimate(name, rng.normal(size=64), kurtosis) for name, kurtosis in
             {"energy": 3.0, "charge_square": 49.0, "sign": 60.0, "G4_pp": 30.0, "lambda_d": 3.0, "eigenvector_d": 50.0,
              "mu": 3.0}.items()}
    told = marked(found)
    noted = {name for name, e in told.items() if e.note == TAILS}
    assert noted == {"charge_square", "G4_pp", "lambda_d", "eigenvector_d"}
    point = synthetic.point(synthetic.parameters(), 0)
    point.observables |= told
    assert not checks.warnings(point) and all(e.supported for e in told.values())
    found["G4_pp"].kurtosis = None
    assert marked(found)["lambda_d"].note == ""


def test_samples_across_a_divergence_of_the_vertex_are_reported():
    class Counted:
        mean, values = np.array(1.0), np.array([1.0] * 61 + [2.0, 2.0, 0.0])
    assert crossed(Counted).startswith("3 of 64 jackknife samples have another number of negative eigenvalues")
    Counted.values = np.ones(64)
    assert crossed(Counted) == "" and crossed(None) == ""
