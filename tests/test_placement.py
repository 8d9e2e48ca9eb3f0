"""What a rank gets of its machine, and how the input says it."""

import os

import pytest

from plaq import _core, comm, machine
from plaq.dca.parameters import SCHEMA
from plaq.errors import InputError
from plaq.inputs.kinds import cpu_list

CPUS = sorted(os.sched_getaffinity(0))


def test_lists_of_hardware_threads():
    assert cpu_list("0,2,4-7") == [0, 2, 4, 5, 6, 7]
    for bad in ("", "a", "1,", "3-1", "1,1", "-1", "1-", "0-99999999"):
        with pytest.raises(ValueError):
            cpu_list(bad)


def test_alone_a_rank_has_what_the_process_may_use():
    options = machine.pool_options()
    assert sorted(options.cpus) == CPUS and options.workers == _core.task.physical_cores()
    assert machine.pool_options(3, "none").workers == 3
    listed = machine.pool_options("auto", str(CPUS[-1]))
    assert listed.cpus == [CPUS[-1]] and listed.workers == 1 and listed.bind == _core.task.Binding.threads


def test_a_list_is_cut_for_the_ranks(monkeypatch):
    monkeypatch.setattr(comm, "node", lambda: comm.Node(1, [[4, 5, 6, 7]] * 2))
    assert machine.pool_options("auto", "7,4-6").cpus == [5, 6]
    with pytest.raises(InputError, match="thread 3, which this process may not use; it may use 4, 5, 6, 7"):
        machine.pool_options("auto", "3,4")
    with pytest.raises(InputError, match="1 hardware thread.* for 2 ranks"):
        machine.pool_options("auto", "5")


@pytest.mark.parametrize("value", ["core", "1-", 1.5, True])
def test_bad_bindings_are_refused(value):
    with pytest.raises(InputError, match='run.bind = .* it must be "auto", "cores", "threads", "none" or'):
        SCHEMA.read({"model": {"U": 4}, "dca": {"temperatures": [1.0]}, "run": {"bind": value}}, "test")
