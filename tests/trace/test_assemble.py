"""Tables from records of which some were lost."""

from types import SimpleNamespace

import numpy as np
import pytest

from plaq.trace.assemble import (
    CREATED,
    FINISHED,
    LINKED,
    MORE,
    REGION_BEGIN,
    REGION_END,
    RESUMED,
    STARTED,
    SUSPENDED,
    assemble,
)
from plaq.trace.rank_file import CLOCK, RECORD, RankFile

NAMES = ["task", "a", "b", "c"]


def records(*events):
    """(kind, time, subject[, number, other]) as the records of a file."""
    out = []
    for kind, time, subject, *rest in events:
        out.append((kind << 56 | time, subject))
        if rest:
            out.append((MORE << 56 | rest[0], rest[1]))
    return np.array(out, RECORD)


def tables(*threads):
    """What is made of the records of some threads, ticks being seconds."""
    file = RankFile("made up", "closed", process={"rank": 0}, names=list(NAMES))
    file.records = np.concatenate(threads)
    file.thread = np.repeat(np.arange(len(threads)), [len(part) for part in threads])
    file.clocks = np.array([(0, 0, 0), (100, 100, 0)], CLOCK)
    return assemble(file, SimpleNamespace(seconds=lambda ticks: np.asarray(ticks, float)))


def task(number, worker):
    return number | worker << 48


def begin(time, name, region, of=1):
    return REGION_BEGIN, time, of, NAMES.index(name), region


def test_a_region_whose_end_was_lost_ends_with_the_one_around_it():
    found = tables(records(
        (CREATED, 0, 1, 0, 0),
        (STARTED, 1, task(1, 0)),
        begin(10, "a", 1),
        begin(11, "b", 2),  # its end is lost
        begin(12, "c", 3),
        (REGION_END, 13, 3),
        (REGION_END, 20, 1),
        begin(30, "a", 4),
        (REGION_END, 40, 4),
        begin(50, "b", 5),  # so is this one's, and nothing is around it
        begin(51, "c", 6),
        (FINISHED, 60, 1),
    ))
    spans = [(NAMES[r["name"]], r["parent"], r["begin"], r["end"]) for r in found.regions]
    assert spans == [
        ("a", -1, 10, 20), ("b", 0, 11, 20), ("c", 1, 12, 13),
        ("a", -1, 30, 40),
        ("b", -1, 50, 60), ("c", 4, 51, 60),
    ]


def test_a_slice_ends_at_the_latest_when_its_worker_goes_on():
    found = tables(
        records(
            (CREATED, 0, 1, 0, 0), (CREATED, 0, 2, 0, 0), (CREATED, 0, 3, 0, 0),
            (STARTED, 1, task(1, 0)),  # suspended, and resumed on worker 1: lost
            (STARTED, 10, task(2, 0)),
            (SUSPENDED, 15, 2),
            (STARTED, 20, task(3, 0)),  # its end is lost, and nothing follows
        ),
        records((FINISHED, 30, 1), (RESUMED, 40, task(2, 1)), (FINISHED, 50, 2)),
    )
    slices = [(found.tasks["id"][s["task"]], s["worker"], s["begin"], s["end"]) for s in found.slices]
    assert slices == [(1, 0, 1, 10), (2, 0, 10, 15), (3, 0, 20, 100), (2, 1, 40, 50)]


@pytest.mark.parametrize("kind", [CREATED, LINKED, REGION_BEGIN])
@pytest.mark.parametrize("torn", [0, 1])
def test_an_event_whose_second_half_was_cut_off_is_left_out(kind, torn):
    """Whichever thread the file's last block was of: another's records may stand behind it, or none."""
    threads = [
        records((CREATED, 0, 1, 1, 0), (STARTED, 1, task(1, 0)), (FINISHED, 20, 1)),
        records((CREATED, 2, 2, 2, 0), (STARTED, 3, task(2, 1)), (FINISHED, 30, 2)),
    ]
    whole = tables(*threads)
    threads[torn] = np.concatenate([threads[torn], records((kind, 40, 1, 3, 2))[:1]])
    found = tables(*threads)
    for name in ("tasks", "slices", "regions", "links"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
