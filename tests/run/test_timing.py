"""Times of the parts of a run."""

import time

import pytest

from plaq.run.timing import timed


def test_times_of_a_part_add_up_and_other_parts_stay():
    seconds = {"steps": 1.0, "files": 2.0}
    for _ in range(2):
        with timed(seconds, "steps"):
            time.sleep(0.01)
    assert 1.02 <= seconds["steps"] < 2.0 and seconds["files"] == 2.0


def test_a_body_that_raises_is_not_counted():
    seconds = {"steps": 1.0}
    with pytest.raises(ZeroDivisionError), timed(seconds, "steps"):
        1 / 0
    assert seconds == {"steps": 1.0}
