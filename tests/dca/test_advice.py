"""Warnings beside numbers that fail a check, and the advice of the report."""

import numpy as np
import pytest
import synthetic

from plaq.data.figures import Theme
from plaq.dca.physics import checks
from plaq.dca.results import plot, report
from plaq.dca.results.advice import advice
from plaq.dca.results.report import page
from plaq.dca.results.results import Results, summary


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    """They take most of the time of a page."""
    monkeypatch.setattr(report, "figures", lambda results: "")


@pytest.fixture
def results():
    return synthetic.results()


P = synthetic.parameters()


def final(point, **changes):
    next(record for record in point.history if record["phase"] == "final").update(changes)


def spoil_convergence(point):
    final(point, converged=False)


def spoil_mixing(point):
    point["double_occupancy"].tau_int = float("inf")


def spoil_agreement(point):
    point["density"].disagreement, point["double_occupancy"].disagreement = 4.5, 31.2


def spoil_tails(point):
    """One bin of lambda_d says what the others do not: without it there is 0.7."""
    e = point["lambda_d"]
    e.jackknife = np.full(64, 1.0) + 1e-3 * np.sin(np.arange(64))
    e.jackknife[5] = 0.7
    e.mean, e.error = np.array(1.0), np.array(0.3)
    point["sign"].jackknife = e.jackknife


def spoil_density(point):
    point["density"].mean = np.array(0.951)  # the error is 1e-5


def spoil_check(point):
    point["order_identity"].mean = np.array(0.4)


def spoil_drift(point):
    point.history[-1]["drift"] = 0.5


@pytest.mark.parametrize("spoil, warning, said", [
    (spoil_convergence, "not converged", "has not converged at T = 0.08: raise dca.iterations (now 20)"),
    (spoil_mixing, "the chains do not mix", "chains do not mix at T = 0.08: raise solver.measurements"),
    (spoil_agreement, "the chains disagree in double occupancy by 31 standard errors and in 1 more",
     "chains disagree at T = 0.08, each stays where it is for longer than its bins: raise solver.measurements"),
    (spoil_tails, "heavy tails, a single bin decides lambda d 1.0(3), without it 0.700(6)",
     "decide numbers at T = 0.08"),
    (spoil_density, "n = 0.951000(10) is 100.0 standard errors from 0.95", "density is off at T = 0.08"),
    (spoil_check, "the check of ⟨k⟩ fails by 8.0 standard errors", "check of ⟨k⟩ fails at T = 0.08"),
    (spoil_drift, "the walker's matrix drifts by 0.5", ""),
])
def test_a_warning_stands_beside_the_numbers(results, spoil, warning, said):
    assert not results.warnings(0.95) and "warning" not in results.answer().lower()
    spoil(results.at(0.08))
    assert warning in results.warnings(0.95)[0] and results.warnings(0.95)[0].startswith("T = 0.08: ")
    assert said in " ".join(advice(results, P))
    entry = next(entry for entry in summary(results, {}, 0.95)["temperatures"] if entry["T"] == 0.08)
    assert warning in entry["doubts"][0]
    text = page(results, P, {}, "0" * 64)
    assert text.count('<tr class="doubtful">') == 1 and "Warnings." in text.split("<h2>")[0]
    if spoil is not spoil_density:  # the only one that needs the input
        assert "warning: T = 0.08: " in results.answer()


def test_a_density_without_fluctuations_may_miss_by_rounding():
    point = synthetic.point(P, 0)
    point["density"].error = np.array(0.0)
    point["density"].mean = np.array(0.95 + 1e-12)
    assert abs(checks.density_deviation(point, 0.95)) < 1
    assert checks.density_deviation(point, None) is None


def test_convergence_is_that_of_all_iterations_that_count_which_the_last_one_has():
    point = synthetic.point(P, 0)
    assert checks.converged(point) is None  # of an older run, or an isolated cluster
    point.history[-1].update(converged=False)
    point.history.append({**point.history[-1], "converged": True})
    assert checks.converged(point) is True
    point.history[-1]["converged"] = np.nan  # as a file has what is not there
    assert checks.converged(point) is None


def test_a_loop_that_took_noise_for_convergence_gets_another_key(results):
    spoil_convergence(results.at(0.08))
    results.at(0.08).history[-1]["settled"] = True
    assert "raise dca.minimum_iterations (now 1)." in " ".join(advice(results, P))
    assert any("raise dca.minimum_iterations" in text for text in checks.warnings(results.at(0.08)))
    del results.at(0.08).history[:-1]  # of one iteration, which had no way to settle
    assert any("raise dca.iterations" in text for text in checks.warnings(results.at(0.08)))


def test_advice_follows_the_answer(results):
    assert "λ_d < 1 at every temperature: add temperatures below 0.09" in " ".join(
        advice(bound(results, slice(3, 5)), synthetic.parameters(dca={"temperatures": [0.1, 0.09]})))
    one = Results(results.points[-1:])
    assert "measure it at a second one, and T_c is determined" in " ".join(advice(one, P))
    assert any(text == "6 of 7 temperatures are not done: the same command resumes the run." for text in advice(one, P))
    results.transition.error = 0.1 * results.transition.value
    assert "T_c is known to 10 %: 3e+01 times" not in " ".join(advice(results, P))
    assert "T_c is known to 10 %: 25 times as many measurements near it would give 2 %." in advice(results, P)
    results.transition.error = 1e-4
    assert advice(results, P) == ["All checks have passed: another seed shows their scatter, a larger "
                                  "cluster how they depend on its size."]
    results.at(0.07)["sign"].mean = np.array(0.05)
    assert "average sign is below 0.2 at T = 0.07" in advice(results, P)[0]
    assert advice(Results([]), P)[0].startswith("No temperature is finished")


def test_a_density_that_is_off_asks_for_more_iterations_at_half_filling_too(results):
    p = synthetic.parameters(dca={"density": 1.0})  # where mu = U/2 is half filling, none can be off
    assert "more iterations or measurements bring μ and n together" in " ".join(advice(results, p))


def bound(results, part):
    from plaq.dca.physics.transition import across

    points = results.points[part]
    return Results(points, across(points, "lambda_d"))


def test_tiles_agree_with_the_table(results):
    assert [point.measurements for point in results.points] == [20_000] * 7  # of the iteration that counts
    text = page(results, P, {}, "0" * 64)
    tiles = text.split('<dl class="facts">')[1].split("</dl>")[0]
    assert "<dt>measurements</dt><dd>140 000</dd>" in tiles and text.count("<td>20 000</td>") == 7
    assert "<dt>n</dt><dd>0.95</dd>" in tiles and "<dt>n there</dt><dd>0.950000(10)</dd>" in tiles
    assert "class=off" not in tiles
    spoil_density(results.at(0.07))
    assert "<div class=off><dt>n there</dt>" in page(results, P, {}, "0" * 64)


def test_points_alone_have_no_legend_like_a_point():
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.1, 0.09]})
    few, many = synthetic.results(p), synthetic.results()
    few.transition = None
    figure = plot.pairing(few, Theme())
    assert not figure.legends and not figure.axes[0].get_legend()
    figure = plot.pairing(many, Theme())
    assert figure.legends and not figure.axes[0].get_legend(), "beside the data, not among them"


def test_a_run_of_one_temperature_has_points_in_its_figures():
    p = synthetic.parameters(dca={"temperatures": [0.1]})
    point = synthetic.point(p, 0)
    point["order_histogram"].mean = np.eye(len(point["order_histogram"].mean))[0]  # as without interaction
    results = Results([point])
    assert "1 temperature, down to T = 0.1 t" in page(results, p, {}, "0" * 64)
    for draw in (plot.order_histogram, plot.pairing, plot.susceptibilities, plot.thermodynamics, plot.sign):
        for axes in draw(results, Theme()).axes:
            marked = [line for line in axes.lines if line.get_marker() not in ("", "None", None, "_", "|")]
            assert marked, draw.__name__
