"""Chains on devices: which are chosen, what is said of those that cannot be, and that they measure what workers do."""

from types import SimpleNamespace

import numpy as np
import pytest
import synthetic
from isolated import RING, Isolated

from plaq._core.dca import device_chain_bytes
from plaq.comm import world
from plaq.dca.application import Dca
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.planning.cost import Machine, cost
from plaq.dca.planning.forecast import describe, forecast
from plaq.dca.planning.needs import check_needs
from plaq.dca.solver import devices
from plaq.errors import InputError

GPU = SimpleNamespace(name="a GPU", memory=80e9)


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
    assert chosen("none") == ([], 1) and chosen("auto") == ([0, 1, 2, 3], 1) and chosen("3,1") == ([3, 1], 1)
    machine(4, rank=1, ranks=2)
    assert chosen("auto") == ([1, 3], 1) and chosen("0,2") == ([2], 1) and chosen("2") == ([2], 2)
    machine(2, rank=4, ranks=5)
    assert chosen("auto") == ([0], 3)
    machine(2, rank=3, ranks=5)
    assert chosen("auto") == ([1], 2)


def test_auto_takes_the_workers_where_no_gpu_can(machine):
    machine(0)
    assert chosen("auto") == ([], 1)
    machine(2)
    assert chosen("auto", charge_worms=True).gpus == [] and chosen("auto", single_precision=True).gpus == []


@pytest.mark.parametrize("gpus, device, how, words", [
    (0, "0", {}, 'run.device = "0": no driver'), (2, "1,2", {}, "there is no GPU 2 here, only 0 to 1"),
    (2, "0", {"charge_worms": True}, "isolated cluster"), (2, "0", {"single_precision": True}, "solver.precision")])
def test_a_gpu_that_cannot_be_taken_is_an_error(machine, gpus, device, how, words):
    machine(gpus)
    with pytest.raises(InputError, match=words):
        chosen(device, **how)


def test_the_reason_for_staying_on_the_workers_is_reported(machine):
    header = lambda **sections: Dca(synthetic.parameters(run={"device": "auto"}, **sections)).header()
    machine(2)
    assert header()["device"] == "GPU 0, 1"
    assert header(solver={"precision": "float"})["device"] == 'none, solver.precision = "float" walks on workers only'
    assert "charge worms" in devices.why_none(charge_worms=True, single_precision=False)
    machine(0)
    assert header()["device"] == "none, no driver"
    assert "device" not in Dca(synthetic.parameters()).header()


def test_ranks_have_to_be_alike():
    one = SimpleNamespace(allreduce=lambda value, op: value)
    other = SimpleNamespace(allreduce=lambda value, op: {"min": min, "max": max}[op](value, 1))  # one that has a GPU
    assert devices.alike("auto", devices.Chosen([]), one) == ([], 1)
    assert devices.alike("auto", devices.Chosen([1]), other) == ([1], 1)
    with pytest.raises(InputError, match='run.device = "auto": some ranks have GPUs and others none'):
        devices.alike("auto", devices.Chosen([]), other)


def test_chains_on_a_device_measure_as_on_workers(monkeypatch):
    # The host in place of a GPU.
    case = Isolated(RING, U=4.0, beta=2.0, mu=1.5, measurements=192, bins=16, warm_up=20, window=2, pairing=True)
    case.problem.sweeps_between_charge_worms = 0
    sums = []
    for gpus in ([], [-1], [-1, -1]):
        monkeypatch.setattr(devices, "chosen", lambda *_: devices.Chosen(gpus))
        taken = case.fresh_chains()
        assert case.run(taken)
        taken.gather_bins(world(), True)
        sums.append(taken.bins.sums())
    workers, one, two = sums
    assert np.array_equal(one, two)
    assert not np.array_equal(workers, one) and np.allclose(workers, one, rtol=0, atol=1e-5 * np.abs(workers).max())


def test_memory_of_a_gpu_is_planned_before_the_run(machine, monkeypatch):
    p = synthetic.parameters(run={"device": "0"})
    needed = max(cost(p, Cluster(Lattice(p.hopping()), p.model.cluster), T, Machine(), 1, 1).device_bytes
                 for T in p.dca.temperatures)
    monkeypatch.setattr(GPU, "memory", needed)
    machine(1)
    check_needs(p, 1)
    assert "GPU 0" in describe(p) and ": at most 1 chains at once" in describe(p)
    machine(1, rank=1, ranks=4)  # the estimate may be off by three
    with pytest.raises(InputError, match="T = 0.07 of dca.temperatures needs some .* for each chain on a GPU, and a "):
        check_needs(p, 1)
    machine(0)
    with pytest.raises(InputError, match='run.device = "0": no driver'):
        check_needs(p, 1)
    assert 'device:      run.device = "0": no driver' in describe(p)
    assert "on a GPU" in forecast(p, Machine(), 1, 1)
    assert "device" not in describe(synthetic.parameters()) + forecast(synthetic.parameters(), Machine(), 1, 1)


def test_memory_of_a_chain_follows_its_measurements():
    """In single and double precision; with functions of the same spin G(k, k') is there twice, of both spins."""
    sizes = dict(sites=4, order=100, block_length=32, frequencies=16, histogram_size=200, pair_frequencies=17,
                 window=16, orbits=0, channels=1, same_spin=False, measurements_per_bin=10)
    of = lambda **changed: device_chain_bytes(**sizes | changed)
    one = 12 * 2 * (2 * 4 * 16) ** 2
    assert of(channels=2) - of() == one and of(orbits=5) - of() == 12 * 5 * 2 * 16**2
    assert of(same_spin=True) - of() == 2 * 8 * 2 * (4 * 17) ** 2 + 8 * 2 * 4 * 2 * 16
    assert of(order=200) - of() > 2 * (2 * 8 + 2 * 8 + 2 * 4) * 1.5**2 * (200**2 - 100**2) / 2


@pytest.mark.parametrize("application, there", [("dca", True), ("pic", False), ("lqcd", False)])
def test_only_applications_for_gpus_ask_for_them(application, there):
    from importlib import import_module

    from typer.testing import CliRunner

    said = CliRunner().invoke(import_module(f"plaq.{application}.cli").app, ["run", "--help"])
    assert ("--device" in said.output) == there and "--set" in said.output and "--ranks" in said.output
