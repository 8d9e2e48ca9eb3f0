"""Default runs against exact diagonalisation, as benchmarks/dca/coverage.py does it at length."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "dca"))
import coverage  # noqa: E402

CASES = [coverage.Case(geometry, U, 2.0, density, 8192, 1)
         for geometry, U in (("open dimer", 4.0), ("open dimer", 8.0), ("open plaquette", 2.0))
         for density in (1.0, 0.9)]


@pytest.fixture(scope="module")
def runs():
    return [coverage.carry_out(case) for case in CASES]


def test_bars_of_default_runs_hold(runs):
    """Numbers of one run hang together: 3 standard errors of the scatter between runs, beside what is wanted."""
    numbers = [np.array([[q["squares"], q["numbers"], q["held"], q["far"]] for name, q in run["quantities"].items()
                         if not name.startswith(("G4", "lambda"))]).sum(axis=0) for run in runs]
    squares, count, held, far = np.array(numbers).T
    chi2 = squares.sum() / count.sum()
    error = np.sqrt(((squares - chi2 * count) ** 2).sum()) / count.sum()
    print(chi2, error, held / count)
    assert error < 0.6 and 0.8 - 3 * error < chi2 < 1.2 + 3 * error
    assert far.sum() == 0 and 0.45 < held.sum() / count.sum() < 0.9


def test_everything_is_compared(runs):
    for run in runs:
        assert {"G", "Sigma", "energy", "spin_square", "G4_pp", "lambda_s"} <= run["quantities"].keys()
        assert sum(name.startswith("lambda_") for name in run["quantities"]) >= 6
        assert sum(q["numbers"] for q in run["quantities"].values()) > 1000


def test_finished_cases_are_not_repeated(runs, tmp_path, monkeypatch, capsys):
    for case, run in zip(CASES, runs):
        (tmp_path / f"{case.name}.json").write_text(json.dumps(run))
    monkeypatch.setattr(coverage, "cases", lambda short: CASES)
    monkeypatch.setattr(coverage, "carry_out", lambda case: pytest.fail(f"{case.name} is there"))
    monkeypatch.setattr(sys, "argv", ["coverage.py", str(tmp_path), "--short"])
    coverage.main()
    printed = capsys.readouterr().out
    table, _, doubts = printed.partition("\n\n")
    assert table.count("\n") + 1 == printed.count(" |\n") and doubts.startswith("In doubt: ")
    assert "| `Sigma` | 6 |" in printed and "| all | 6 |" in printed
    assert "| open dimer, β = 2, doped, 8192 measurements | 2 |" in printed
