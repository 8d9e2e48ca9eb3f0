"""The tutorial is run as it stands: its files are written, its Python and shell blocks executed in their order."""

import re
from pathlib import Path

import pytest
from quoted import DURATION, as_printed, within_errors

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
pytestmark = pytest.mark.slow
WANTED = {
    "deviations": "list(deviations.values())",
    "identity": "qmc['order_identity'].mean / qmc['order_identity'].error",
    "T": "T",
    "value": "value",
    "error": "ratio.error",
    "status": "results.tc['status']",
    "density": "results.at(0.25)['density'].mean",
    "same names": "whole.observables.keys() == parts.observables.keys()",
    "same bits": "all(np.array_equal(e.mean, parts[n].mean) and np.array_equal(e.error, parts[n].error) "
                 "for n, e in whole.observables.items())",
    "build": "__import__('plaq.machine').machine.build()",
}


@pytest.fixture(scope="module")
def walk(installed, tmp_path_factory):
    return installed.walk(TUTORIAL, tmp_path_factory.mktemp("tutorial"), WANTED)


def test_the_page_quotes_what_its_blocks_print(walk):
    page, build = TUTORIAL.read_text(), walk.values["build"]
    assert len(walk.quoted) >= 6
    here = (build["processor"], build["kernels"], build["numpy"].rpartition(" ")[2])
    for text, output in walk.quoted:
        printed = as_printed(text, output)
        if here == ("AMD EPYC", "x86-64-v3", "Haswell"):
            without = [re.sub(r"\de-\d+", "@", DURATION.sub("@", some)) for some in (text, printed)]  # times, roundings
            as_on_page = [re.sub(r"\s+", " ", some) for some in without]
            assert as_on_page[0] == as_on_page[1], f"the page quotes\n{text}\nbut printed is\n{printed}"
        for a, b in zip(text.split("\n"), printed.split("\n"), strict=True):
            assert within_errors(a, b), f"{a}\nbut printed is\n{b}"
    everything = "".join(text for text, _ in walk.quoted)
    for number in re.findall(r"`([-+]?\d+\.\d+\(\d+\))`", page):  # quoted in a sentence
        assert number in everything, number


def test_a_page_that_is_wrong_is_noticed():
    output = "T = 0.5 done: x = 0.302(18)\nT = 0.25 done: x = 0.63(4)\ntime: 3 s\n"
    assert as_printed("...\nT = 0.25 done: x = 0.60(4)\n", output) == "...\nT = 0.25 done: x = 0.63(4)\n"
    assert within_errors("x = 0.60(4) 2.71", "x = 0.63(4) 2.60") and not within_errors("x = 0.30(4)", "x = 0.63(4)")
    assert not within_errors("-0.261407", "-0.261408") and not within_errors("n 0.95", "n 1.10")
    with pytest.raises(AssertionError, match="nothing prints a line like this one: x = 1"):
        as_printed("x = 1\n", output)


def test_the_dimer_agrees_with_its_exact_solution(walk):
    assert max(abs(z) for z in walk.values["deviations"]) < 4
    assert abs(walk.values["identity"]) < 4


def test_the_scan_gives_the_numbers_of_the_page(walk):
    found = walk.values
    assert found["T"] == [0.5, 0.25]
    assert all(0 < value < 1 for value in found["value"])
    assert found["status"] == "bound" and "no transition found above T = 0.25" in walk.printed
    assert 0 < found["error"] < 0.1
    assert abs(found["density"] / 0.95 - 1) < 0.02  # "good to a percent", and twice that is rare


def test_a_stopped_run_ends_like_a_whole_one(walk):
    assert walk.values["same names"] and walk.values["same bits"]


def test_figures_and_files_are_there(walk):
    for name in ("g_tau.png", "sigma.png", "run/report.html", "run/export/triqs.h5", "weak/results.h5"):
        assert (walk.folder / name).stat().st_size > 0
