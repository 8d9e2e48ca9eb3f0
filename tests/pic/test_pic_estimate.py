"""`plaq pic estimate`: the cost model on given speeds, where everything can be worked out by hand, and what it
measures."""

import math

import numpy as np
import pytest
from test_pic_parameters import parameters

from plaq.errors import InputError
from plaq.pic.application import Pic
from plaq.pic.inputs.loads import bytes_of, expected_loads
from plaq.pic.inputs.setup import Setup
from plaq.pic.planning.estimate import (
    PROCESS,
    Machine,
    cost,
    emitted_by_plates,
    estimate,
    initial_homes,
    measure,
    message_volume,
)

SQUARE = {"cells": [64, 64], "length": [16, 16], "patches": [8, 8]}
SPEEDS = Machine("by hand", push=1e-8, cell=1e-7, solve=0.0, latency=0.0, bandwidth=1e18)


def square(density=1, **changed):
    electrons = {"electrons": {"charge": -1, "mass": 1, "density": density, "per_cell": 10, "temperature": 0.01}}
    return Setup(parameters(grid=SQUARE, species=electrons, **changed))


def test_uniform_plasma_takes_the_same_time_on_every_rank():
    setup = square()
    whole = 64 * 64 * (10 * 1e-8 + 1e-7)
    for ranks, workers in ((1, 1), (4, 1), (16, 2), (64, 1)):
        found = cost(setup, SPEEDS, ranks, workers)
        assert found.step == pytest.approx(whole / (ranks * workers)), (ranks, workers)
        assert found.efficiency == pytest.approx(1)
    # no patch is cut: with one a rank more workers have nothing to do
    assert cost(setup, SPEEDS, 64, 4).step == pytest.approx(whole / 64)
    assert cost(setup, SPEEDS, 1, 1).memory == pytest.approx(PROCESS + bytes_of(setup, expected_loads(setup)).sum())


def test_the_largest_patch_bounds_a_step():
    setup = square("if(x < 2 and y < 2, 1, 0)")  # one patch of 64
    found = cost(setup, SPEEDS, 64, 4)
    assert found.step == pytest.approx(found.largest) and found.largest == pytest.approx(64 * (10 * 1e-8 + 1e-7))
    assert found.efficiency == pytest.approx((640 * 1e-8 + 4096 * 1e-7) / (64 * 4) / found.largest)
    assert expected_loads(setup).all_particles.max() == 640


def test_patches_that_workers_cannot_share_evenly_cost_the_rest():
    """9 on 2 workers: 5 against 4."""
    grid = {"cells": [48, 48], "length": [12, 12], "patches": [3, 3]}
    setup = Setup(parameters(grid=grid, species={"electrons": {"charge": -1, "mass": 1, "density": 1, "per_cell": 10,
                                                               "temperature": 0.01}}))
    assert cost(setup, SPEEDS, 1, 2).efficiency == pytest.approx(0.9)
    assert cost(setup, SPEEDS, 1, 3).efficiency == pytest.approx(1)


def test_patches_are_distributed_by_work():
    setup = square("step(x - 8)*9 + 1")
    work = expected_loads(setup).work()
    home = initial_homes(setup, work, 4)
    of_ranks = np.bincount(home, work, 4)
    assert of_ranks.max() < 1.1 * of_ranks.mean() and set(home) == {0, 1, 2, 3}


def test_messages_are_those_to_other_ranks():
    setup = Setup(parameters(grid={"cells": [32], "length": [8], "patches": [4]}, output={"gauss": False}))
    messages, volume = message_volume(setup, np.array([0, 0, 1, 1]), 2)
    # each rank has two neighbours on the other one, around the box too; current, then fields, of two guard cells in
    # double
    guard = 2 if setup.p.solver.order == 1 else 3
    assert messages.tolist() == [4, 4] and volume.tolist() == [2 * guard * 9 * 8] * 2
    assert message_volume(setup, np.zeros(4, int), 1)[0].tolist() == [0]
    closed = Setup(parameters(grid={"cells": [32], "length": [8], "patches": [4]}, output={"gauss": False},
                              boundaries={"x": ["conducting", "conducting"]}))
    assert message_volume(closed, np.array([0, 0, 1, 1]), 2)[0].tolist() == [2, 2]
    slow = Machine("slow", 1e-8, 1e-7, 0.0, latency=1e-3, bandwidth=1e18)
    four = square(output={"gauss": False})
    assert cost(four, slow, 4, 1).messages >= 3 * 2 * 1e-3


def test_plates_emit_their_flux():
    setup = Setup(parameters(grid=SQUARE, time={"end": 10, "step": 0.1},
                             species={"electrons": {"charge": -1, "mass": 1}},
                             boundaries={"x": ["conducting", "conducting"]},
                             emission={"plate": {"species": "electrons", "at": [0, 8], "normal": [1, 0],
                                                 "half_width": 2,
                                                 "flux": 0.5, "per_cell": 100, "drift": 0.3}}))
    weight = setup.cell_volume / 100
    assert emitted_by_plates(setup) == pytest.approx(0.5 * 10 * 4 / weight)
    assert expected_loads(setup).all_particles.sum() == 0
    assert cost(setup, SPEEDS, 1, 1).step > 64 * 64 * 1e-7


def test_measured_speeds_are_of_a_processor():
    machine = measure(square(solver={"order": 1, "precision": "single"}))
    assert 1e-10 < machine.push < 1e-5 and 1e-10 < machine.cell < 1e-4 and machine.solve == 0


def test_the_text_of_the_estimate(tmp_path):
    file = tmp_path / "machine.toml"
    file.write_text('[machine]\nname = "mine"\npush = 1e-8\ncell = 1e-7\n')
    p = square().p
    text = Pic(p).estimate(4, 2, file)
    for words in ("mine: a push 10 ns, a cell's fields 100 ns", "4, 2 worker(s) each; 64 patches of 64 cells",
                  "4.096e+04 at t = 0",
                  "640 in the fullest patch", "efficiency:", f"{Setup(p).steps} steps"):
        assert words in text, text
    with pytest.raises(InputError, match="64 patches are too few for 65 ranks"):
        Pic(p).estimate(65, 1, file)
    file.write_text("[machine]\npush = -1\n")
    with pytest.raises(InputError, match=r"machine.toml.*machine.push = -1"):
        estimate(p, 1, 1, file)
    assert math.isclose(Pic(p).expected_seconds(), 2e-8 * Setup(p).steps * expected_loads(Setup(p)).work().sum())
