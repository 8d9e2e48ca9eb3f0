"""Chains on devices: which are chosen, what is said of those that cannot be, and that they measure what workers do."""

from types import SimpleNamespace

import numpy as np
import pytest
from isolated import RING, Isolated

from plaq.comm import world
from plaq.dca.solver import devices
from plaq.errors import InputError

GPU = SimpleNamespace(name="a GPU")


@pytest.fixture
def machine(monkeypatch):
    """Makes this one of some ranks of a machine with so many GPUs."""
    def of(gpus, rank=0, ranks=1, why="no driver"):
        monkeypatch.setattr(devices, "node", lambda: SimpleNamespace(rank=rank, masks=[[0]] * ranks))
        found = SimpleNamespace(gpus=[GPU] * gpus, why_none="" if gpus else why)
        monkeypatch.setattr(devices._core.gpu, "find_devices", lambda: found)
    return of


def chosen(device, charge_worms=False, single_precision=False):
    return devices.chosen(device, charge_worms, single_precision)


def test_ranks_of_a_machine_share_its_gpus(machine):
    machine(4)
    assert chosen("none") == [] and chosen("auto") == [0, 1, 2, 3] and chosen("3,1") == [3, 1]
    machine(4, rank=1, ranks=2)
    assert chosen("auto") == [1, 3] and chosen("0,2") == [2] and chosen("2") == [2]
    machine(2, rank=4, ranks=5)
    assert chosen("auto") == [0]


def test_auto_takes_the_workers_where_no_gpu_can(machine):
    machine(0)
    assert chosen("auto") == []
    machine(2)
    assert chosen("auto", charge_worms=True) == [] and chosen("auto", single_precision=True) == []


@pytest.mark.parametrize("gpus, device, how, words", [
    (0, "0", {}, 'run.device = "0": no driver'), (2, "1,2", {}, "there is no GPU 2 here, only 0 to 1"),
    (2, "0", {"charge_worms": True}, "isolated cluster"), (2, "0", {"single_precision": True}, "solver.precision")])
def test_a_gpu_that_cannot_be_taken_is_an_error(machine, gpus, device, how, words):
    machine(gpus)
    with pytest.raises(InputError, match=words):
        chosen(device, **how)


def test_chains_on_a_device_measure_what_workers_do(monkeypatch):
    # The host in place of a GPU.
    case = Isolated(RING, U=4.0, beta=2.0, mu=1.5, measurements=192, bins=16, warm_up=20, window=2, pairing=True)
    case.problem.sweeps_between_charge_worms = 0
    sums = []
    for gpus in ([], [-1], [-1, -1]):
        monkeypatch.setattr(devices, "chosen", lambda *_: gpus)
        taken = case.fresh_chains()
        assert case.run(taken)
        taken.gather_bins(world(), True)
        sums.append(taken.bins.sums())
    workers, one, two = sums
    assert np.array_equal(one, two)
    assert not np.array_equal(workers, one) and np.allclose(workers, one, rtol=0, atol=1e-5 * np.abs(workers).max())


@pytest.mark.parametrize("application, there", [("dca", True), ("pic", False), ("lqcd", False)])
def test_only_what_can_use_gpus_asks_for_them(application, there):
    from importlib import import_module

    from typer.testing import CliRunner

    said = CliRunner().invoke(import_module(f"plaq.{application}.cli").app, ["run", "--help"])
    assert ("--device" in said.output) == there and "--set" in said.output and "--ranks" in said.output
