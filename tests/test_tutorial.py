"""The tutorial is run as it stands: its files are written, its Python and shell blocks executed in their order."""

import re
from pathlib import Path

import numpy as np
import pytest
from quoted import DURATION, as_printed, within_errors
from walked import walked

from plaq.machine import build

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.md"


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Results of the blocks: (namespace, folder, output of the shell, quoted texts), as in `walked`."""
    folder = tmp_path_factory.mktemp("tutorial")
    names, printed, quoted = walked(TUTORIAL, folder)
    return names, folder, printed, quoted


def test_the_page_quotes_what_its_blocks_print(walk):
    page, quoted = TUTORIAL.read_text(), walk[3]
    assert len(quoted) >= 6
    here = (build()["processor"], build()["kernels"], build()["numpy"].rpartition(" ")[2])
    for text, output in quoted:
        printed = as_printed(text, output)
        if here == ("AMD EPYC", "x86-64-v3", "Haswell"):
            without = [re.sub(r"\de-\d+", "@", DURATION.sub("@", some)) for some in (text, printed)]  # times, roundings
            as_on_page = [re.sub(r"\s+", " ", some) for some in without]
            assert as_on_page[0] == as_on_page[1], f"the page quotes\n{text}\nbut printed is\n{printed}"
        for a, b in zip(text.split("\n"), printed.split("\n"), strict=True):
            assert within_errors(a, b), f"{a}\nbut printed is\n{b}"
    everything = "".join(text for text, _ in quoted)
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
    names = walk[0]
    assert max(abs(z) for z in names["deviations"].values()) < 4
    assert abs(names["qmc"]["order_identity"].mean) < 4 * names["qmc"]["order_identity"].error


def test_the_scan_gives_the_numbers_of_the_page(walk):
    names, folder, printed, _ = walk
    assert list(names["T"]) == [0.5, 0.25]
    assert (0 < names["value"]).all() and (names["value"] < 1).all()
    assert names["results"].tc["status"] == "bound" and "no transition found above T = 0.25" in printed
    assert 0 < names["error"] < 0.1
    # "good to a percent", and twice that is rare
    assert abs(names["results"].at(0.25)["density"].mean / 0.95 - 1) < 0.02


def test_a_stopped_run_ends_like_a_whole_one(walk):
    names = walk[0]
    whole, parts = names["whole"], names["parts"]
    assert whole.observables.keys() == parts.observables.keys()
    for name, estimate in whole.observables.items():
        assert np.array_equal(estimate.mean, parts[name].mean) and np.array_equal(estimate.error, parts[name].error)


def test_figures_and_files_are_there(walk):
    folder = walk[1]
    for name in ("g_tau.png", "sigma.png", "run/report.html", "run/export/triqs.h5", "weak/results.h5"):
        assert (folder / name).stat().st_size > 0


def test_the_example_of_the_readme_runs():
    names = {}
    (code,) = re.findall(r"^```python\n(.*?)^```$", (TUTORIAL.parent.parent / "README.md").read_text(),
                         flags=re.M | re.S)
    exec(code, names)
    assert list(names["T"]) == [0.5, 0.25] and names["results"].at(0.25)["lambda_d"].supported
