"""Cost of a run on so many ranks of so many workers: ``plaq pic estimate``.

A step of a rank is that of its patches, distributed as in a run, and of their messages to patches of other ranks:

    t = Σ_patches (n t_push + c t_cell) of its busiest worker + messages · latency + bytes / bandwidth + t_solve

with n particles and c cells of a patch. The largest patch goes first, each to the first idle worker. t_solve is
Poisson's equation, which every rank solves for the whole box. The step of a run is that of its slowest rank.

Particles are those of the profiles at t = 0 and half of those that plates emit in the whole run. Speeds are read from
a file, or measured, for about a second, by processor time, on a small plasma with the input's dimensions, order,
pusher, precision and particles in a cell.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plaq import _core
from plaq.comm import world
from plaq.data.formatting import format_duration, format_size
from plaq.errors import InputError
from plaq.inputs.kinds import real, text
from plaq.inputs.schema import Parameter, Schema, read_toml
from plaq.machine import pool_options, processor
from plaq.pic.inputs.loads import bytes_of, emitted_particles, expected_loads
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.plan import plan_of
from plaq.pic.inputs.setup import Setup
from plaq.run.forecast import Forecast

PROCESS = 1e8  # bytes of Python with its libraries
MOST_MEASURED = 200_000  # particles
SAMPLES = 3  # of which the fastest counts
CURRENTS, FIELDS, DENSITY = 3, 6, 1  # numbers of a guard cell in the messages of a step

_time = real("[0, 1e6]")
MACHINE = Schema(
    {"machine": "One core of a rank, and the network."},
    [
        Parameter("machine", "name", text(), "a machine", "", "of the machine"),
        Parameter("machine", "push", _time, 2e-8, "s", "step of a particle"),
        Parameter("machine", "cell", _time, 2e-8, "s", "step of a cell's fields"),
        Parameter("machine", "solve", _time, 0.0, "s", "Poisson's equation in the whole box"),
        Parameter("machine", "latency", _time, 1e-5, "s", "message to another rank"),
        Parameter("machine", "bandwidth", real("[1, 1e18]"), 1e9, "bytes/s", "of the messages of a rank"),
    ],
)


@dataclass(frozen=True)
class Machine:
    """Speeds of a machine, as in the table MACHINE."""

    name: str
    push: float
    cell: float
    solve: float
    latency: float
    bandwidth: float

    @classmethod
    def of(cls, values: dict, source: str) -> Machine:
        section = MACHINE.read({"machine": values}, source)["machine"]
        return cls(*(getattr(section, field) for field in cls.__dataclass_fields__))

    @classmethod
    def read(cls, path: Path) -> Machine:
        """Read a TOML file. InputError names file, key, value and what is allowed."""
        content = read_toml(path)
        MACHINE.read(content, str(path))
        return cls.of(dict(content.get("machine", {})), str(path))


@dataclass(frozen=True)
class Cost:
    """Seconds of a step, and bytes of the fullest rank.

    ``step`` of the slowest rank, ``patches`` and ``messages`` its particles and fields and its messages, ``solve``
    Poisson's equation, ``mean`` the particles and fields of the mean rank, ``largest`` the largest patch.
    """

    step: float
    patches: float
    messages: float
    solve: float
    mean: float
    largest: float
    memory: float

    @property
    def efficiency(self) -> float:
        return self.mean / self.step


def measure(setup: Setup) -> Machine:
    """Measure the speeds of one core of this machine."""
    p = setup.p
    most = max((species.per_cell or 0 for species in p.species.values()), default=0)
    per_cell = round(min(max([most, *(plate.per_cell for plate in p.emission.values())]), 4096))
    full = _steps(setup, per_cell)
    empty = _steps(setup, 0)
    count = full.particles
    push = max(full.seconds - empty.seconds * full.cells / empty.cells, 0.0) / count if count else 0.0
    solve = _solve(setup) if p.fields.solver == "electrostatic" else 0.0
    return Machine.of({"name": f"{processor()}, measured", "push": push, "cell": empty.seconds / empty.cells,
                       "solve": solve}, "measured")


@dataclass(frozen=True)
class Steps:
    """Seconds of a step of a plasma of so many cells and particles."""

    seconds: float
    cells: int
    particles: int


def _steps(setup: Setup, per_cell: int) -> Steps:
    """Time the steps of one patch of the input's size or smaller, periodic, warm, on one worker."""
    p, plan = setup.p, _core.pic.Plan()
    extent = [int(np.diff(starts).max()) for starts in setup.starts]
    while per_cell and per_cell * math.prod(extent) > MOST_MEASURED and max(extent) > 4:
        extent[int(np.argmax(extent))] //= 2
    plan.cells, plan.lengths, plan.patches = extent, [n * h for n, h in zip(extent, setup.spacing)], [1] * len(extent)
    plan.dt, plan.order = min(setup.dt, 0.95 * plan.courant), p.solver.order
    plan.species = [_core.pic.Species(name, species.charge, species.mass, species.pusher)
                    for name, species in list(p.species.items())[:1]]
    core = _make(setup, plan)
    if per_cell and plan.species:
        x = np.asarray(core.make_positions(0, 0, per_cell))
        core.load(0, 0, x, np.full(len(x), setup.cell_volume / per_cell), np.zeros((len(x), 3)),
                  np.full((len(x), 3), 0.05))
    core.start()
    cells, particles = math.prod(extent), per_cell * math.prod(extent) if plan.species else 0
    steps = max(4, 200_000 // (cells + 10 * particles))
    core.advance(steps, p.output.gauss)
    fastest = math.inf
    for _ in range(SAMPLES):
        started = time.process_time()
        core.advance(steps, p.output.gauss)
        fastest = min(fastest, (time.process_time() - started) / steps)
    return Steps(fastest, cells, particles)


def _solve(setup: Setup) -> float:
    """Return the seconds of Poisson's equation in the whole box."""
    core = _make(setup, plan_of(setup))
    core.solve_poisson()
    started = time.process_time()
    core.solve_poisson()
    return time.process_time() - started


def _make(setup: Setup, plan: _core.pic.Plan) -> _core.pic.Plasma:
    """Make a plasma with one worker."""
    return _core.pic.Plasma.make(plan, world().native, "fiber", pool_options(1), precision=setup.p.solver.precision)


def initial_homes(setup: Setup, work: np.ndarray, ranks: int) -> np.ndarray:
    """Return the rank of every patch [patch], x fastest, at the start of a run.

    The Hilbert curve is cut into parts of equal work.
    """
    parts = np.array(setup.patches, np.int32)
    at = np.array([point[::-1] for point in np.ndindex(*setup.patches[::-1])], np.int32)
    positions = _core.collection.hilbert_positions(at, parts)
    none, count = np.zeros((0, 2), np.uint64), len(work)
    situation = _core.collection.LoadDistribution(ranks, work, np.zeros(count, np.int32), np.ones(count), none,
                                           np.zeros(0), positions,
                                        np.zeros((0, 3)), np.inf, 1)
    return np.asarray(situation.plan("hilbert_cut"))


def message_volume(setup: Setup, home: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return messages and bytes from each rank to others in a step [rank], without those of particles."""
    number = 8 if setup.p.solver.precision == "double" else 4
    order, where = setup.p.solver.order, home.reshape(setup.patches[::-1])
    periodic = [word == "periodic" for word in setup.sides("", 0)]
    guard = (2 if order == 1 else 3) + (setup.dimension > 1 and not all(periodic))
    extent = [cells / parts for cells, parts in zip(setup.cells, setup.patches)]
    electrostatic = setup.p.fields.solver == "electrostatic"
    values = (CURRENTS + (DENSITY if electrostatic else FIELDS)
              + (DENSITY if setup.p.output.gauss and not electrostatic else 0))
    each = 2 + (setup.p.output.gauss and not electrostatic)
    messages, volume = np.zeros(ranks), np.zeros(ranks)
    for shift in np.ndindex(*([3] * setup.dimension)):
        shift = tuple(s - 1 for s in shift)
        if not any(shift):
            continue
        there, inside = where, np.ones(where.shape, bool)
        for d, s in enumerate(shift):
            axis = setup.dimension - 1 - d
            there = np.roll(there, -s, axis)
            if s and not periodic[d]:
                inside[tuple(slice(None) if a != axis else (-1 if s > 0 else 0)
                             for a in range(setup.dimension))] = False
        away = where[inside & (there != where)]
        cells = math.prod(guard if s else n for s, n in zip(shift, extent))
        messages += each * np.bincount(away, minlength=ranks)
        volume += values * number * cells * np.bincount(away, minlength=ranks)
    return messages, volume


def emitted_by_plates(setup: Setup) -> float:
    """Return the largest number of particles that plates emit in the whole run."""
    total = 0.0
    for name, plate in setup.p.emission.items():
        if plate.flux is None:
            continue
        total += emitted_particles(setup, name)
    return total


def busiest(work: np.ndarray, workers: int) -> float:
    """Return the work of the busiest worker of a rank with patches of this work."""
    free = [0.0] * workers
    for patch in np.sort(work)[::-1]:
        heapq.heapreplace(free, free[0] + float(patch))
    return max(free)


def cost(setup: Setup, machine: Machine, ranks: int, workers: int) -> Cost:
    """Return the cost of a step, with half of the particles of plates spread over all cells."""
    loads = expected_loads(setup)
    particles = loads.all_particles + emitted_by_plates(setup) / 2 * loads.cells / loads.cells.sum()
    work = particles * machine.push + loads.cells * machine.cell
    home = initial_homes(setup, loads.work(), ranks)
    busy = np.array([busiest(work[home == rank], workers) for rank in range(ranks)])
    messages, volume = message_volume(setup, home, ranks)
    sending = messages * machine.latency + volume / machine.bandwidth
    slowest = int(np.argmax(busy + sending))
    return Cost(float(busy[slowest] + sending[slowest]) + machine.solve, float(busy[slowest]),
                float(sending[slowest]), machine.solve, float(work.sum()) / (ranks * workers), float(work.max()),
                PROCESS + float(np.bincount(home, bytes_of(setup, loads), ranks).max()))


def estimate(p: Parameters, ranks: int, workers: int, machine: Path | None = None) -> Forecast:
    """Return time and memory of a run.

    InputError for a file of speeds that is not valid, and for more ranks than patches.
    """
    setup = Setup(p)
    patches = math.prod(setup.patches)
    if ranks > patches:
        raise InputError(f"grid.patches = {list(setup.patches)}: {patches} patches are too few for {ranks} ranks; "
                         "each needs one at least")
    speeds = Machine.read(machine) if machine else measure(setup)
    total, loads = cost(setup, speeds, ranks, workers), expected_loads(setup)
    plates = emitted_by_plates(setup)
    text = "\n".join([
        f"machine:     {speeds.name}: a push {1e9 * speeds.push:.3g} ns, a cell's fields {1e9 * speeds.cell:.3g} ns, "
        f"a message {1e6 * speeds.latency:.3g} us, {speeds.bandwidth / 1e9:.3g} GB/s",
        f"ranks:       {ranks}, {workers} worker(s) each; {patches} patches of {loads.cells.mean():.4g} cells",
        f"particles:   {loads.all_particles.sum():.4g} at t = 0, {loads.all_particles.max():.4g} in the fullest patch"
        + (f", at most {plates:.4g} from plates" if plates else ""),
        f"step:        {1e3 * total.step:.3g} ms: particles and fields of the slowest rank "
        f"{1e3 * total.patches:.3g}, of the mean {1e3 * total.mean:.3g}, of the largest patch "
        f"{1e3 * total.largest:.3g}; messages {1e3 * total.messages:.3g}"
        + (f"; Poisson's equation {1e3 * total.solve:.3g}" if total.solve else ""),
        f"efficiency:  {100 * total.efficiency:.3g} % of {ranks * workers} cores without other load",
        f"memory:      {format_size(total.memory)} on the fullest rank",
        f"time:        {format_duration(total.step * setup.steps)} for {setup.steps} steps, with the particles of "
        "t = 0; without output, checkpoints and moves",
    ])
    parts = {"patches": total.patches, "messages": total.messages, "solve": total.solve}
    return Forecast(text, parts={part: value * setup.steps for part, value in parts.items() if value},
                    memory=total.memory, ranks=ranks, workers=workers, efficiency=total.efficiency)
