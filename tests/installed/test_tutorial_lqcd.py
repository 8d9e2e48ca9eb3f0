"""docs/lqcd_tutorial.md is run as it stands."""

from pathlib import Path

import numpy as np
import pytest
from quoted import as_printed, within_errors

PAGE = Path(__file__).parents[2] / "docs" / "lqcd_tutorial.md"


@pytest.fixture(scope="module")
def walk(installed, tmp_path_factory):
    return installed.walk(PAGE, tmp_path_factory.mktemp("lqcd_tutorial"), {"pion": "pion"})


def test_the_page_quotes_what_its_blocks_print(walk):
    assert len(walk.quoted) >= 5
    for text, output in walk.quoted:
        for a, b in zip(text.split("\n"), as_printed(text, output).split("\n"), strict=True):
            assert within_errors(a, b), f"{a}\nbut printed is\n{b}"


def test_a_pion_with_momentum_is_heavier(walk):
    rest, moving = np.array(walk.values["pion"])
    assert (rest > 0).all() and np.log(moving[1] / moving[2]) > np.log(rest[1] / rest[2])


def test_files_are_there(walk):
    for name in ("run/results.h5", "run/report.html", "conf.ildg", "prop.scidac"):
        assert (walk.folder / name).stat().st_size > 0
