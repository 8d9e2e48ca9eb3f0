"""Runs of the inputs that ``plaq new`` writes, which packaging/try-wheel.sh has left, have a sensible first answer."""

import pytest

CHECKS = {
    "dca": "results.at(0.2)['lambda_d'].mean > results.at(0.5)['lambda_d'].mean > 0",
    "lqcd": "0.54 < results['plaquette'].mean < 0.56 and results['plaquette'].error < 0.003",
    "pic": "results.field_energy[-1] > 1e3 * results.field_energy[5]",
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_first_run_has_a_sensible_answer(installed, name):
    (runs,) = (installed.bin.parents[1] / "runs").iterdir()
    installed.python(f"from plaq import {name}\nresults = {name}.load('{name}')\nassert {CHECKS[name]}\n"
                     "assert not any('warning' in line for line in results.answers()), results.answers()", folder=runs)
