"""plaq lqcd beside tmLQCD and Grid: `python peers.py [--tmlqcd FOLDER] [--grid BESIDE] [options]`.

One quenched field of plaq is the input of all: a propagator of twelve point sources by conjugate gradient, a solve with
ten shifts (median of five), and trajectories of hybrid Monte Carlo with two quarks. Programs take turns. Seconds are
those of the processor, with several threads of wall time. FOLDER has tmLQCD's `invert` and `hmc_tm`, built without MPI,
OpenMP and TM_CLOCK_GETTIME, so that they read `clock()`. BESIDE is the program of grid/beside.cpp. Quarks are periodic.
The peers' residuals are those of the normal equation.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from plaq import _core, lqcd
from plaq.lqcd.action.hmc import TimeScale, trajectory
from plaq.lqcd.action.terms import GaugeTerm, QuarkTerm

INVERT = """L = {L}
T = {T}
DebugLevel = 1
InitialStoreCounter = 0
Measurements = 1
2kappamu = 0
kappa = {kappa}
ThetaT = 0
GaugeConfigInputFile = conf
UseEvenOdd = yes
UseRelativePrecision = yes
SourceType = Point
Indices = 0-11
BeginOperator WILSON
  kappa = {kappa}
  UseEvenOdd = yes
  Solver = CG
  SolverPrecision = {squared}
  MaxSolverIterations = 10000
EndOperator
"""
HMC = """L = {L}
T = {T}
Measurements = {trajectories}
StartCondition = continue
InitialStoreCounter = 0
GaugeConfigInputFile = conf.0000
2KappaMu = 0
kappa = {kappa}
NSave = 500000
ThetaT = 0
UseEvenOdd = yes
UseRelativePrecision = yes
ReversibilityCheck = no
DebugLevel = 1
BeginMonomial GAUGE
  Type = Wilson
  beta = {beta}
  Timescale = 0
EndMonomial
BeginMonomial DET
  Timescale = 1
  2KappaMu = 0
  kappa = {kappa}
  AcceptancePrecision = {squared}
  ForcePrecision = {squared}
  Name = det
  Solver = CG
EndMonomial
BeginIntegrator
  Type0 = 2MN
  Type1 = 2MN
  IntegrationSteps0 = {inner}
  IntegrationSteps1 = {outer}
  Tau = 0.5
  Lambda0 = 0.1931833275037836
  Lambda1 = 0.1931833275037836
  NumberOfTimescales = 2
EndIntegrator
BeginOperator WILSON
  kappa = {kappa}
EndOperator
"""


def seconds(o: argparse.Namespace) -> float:
    """Return the time of the clock that is used."""
    return time.process_time() if o.threads == 1 else time.perf_counter()


def quenched(extents: list[int], beta: float, sweeps: int, threads: int) -> lqcd.GaugeField:
    """Return a field after some sweeps from a hot start."""
    pool = _core.task.Options()
    pool.workers = threads
    gauge = lqcd.GaugeField(lqcd.Lattice(extents, backend="fiber", pool=pool)).hot(1)
    for sweep in range(sweeps):
        gauge.heat_bath(beta, 1, sweep)
        gauge.over_relax()
    return gauge


def point(gauge: lqcd.GaugeField, spin: int, colour: int) -> lqcd.SpinorField:
    """Return the point source at the origin."""
    values = np.zeros((*gauge.lattice.extents, 4, 3), complex)
    values[0, 0, 0, 0, spin, colour] = 1
    eta = lqcd.SpinorField(gauge.lattice)
    eta.set_local(values)
    return eta


def plaq_solves(gauge: lqcd.GaugeField, o: argparse.Namespace) -> dict[str, tuple[float, int]]:
    """Return (seconds, steps) of the propagator in double and mixed precision, and of the shifts."""
    M = lqcd.Wilson(gauge, o.kappa)
    found = {}
    for precision in ("double", "single"):
        steps, start = 0, seconds(o)
        for spin in range(4):
            for colour in range(3):
                steps += lqcd.solve(M, point(gauge, spin, colour), o.residual, precision=precision)[1].steps
        found[f"propagator, {precision}"] = seconds(o) - start, steps
    phi = lqcd.SpinorField(gauge.lattice, odd=True).pseudofermion(1, 0, 0)
    calls = []
    for _ in range(5):
        start = seconds(o)
        lqcd.solve_shifted(M, phi, [0.001 * 2**i for i in range(10)], o.residual)
        calls.append(seconds(o) - start)
    found["ten shifts"] = statistics.median(calls), 0
    return found


def plaq_hmc(gauge: lqcd.GaugeField, o: argparse.Namespace) -> list[tuple[float, float]]:
    """Return (seconds, Delta H) of each trajectory."""
    gauge, found = gauge.copy(), []
    quarks = QuarkTerm(o.kappa, residual=o.residual, force_residual=o.residual, precision=o.precision)
    scales = [TimeScale((quarks,), o.outer), TimeScale((GaugeTerm(o.beta),), o.inner)]
    for number in range(o.trajectories):
        start = seconds(o)
        result = trajectory(gauge, scales, 1.0, 1, number, always=True)
        found.append((seconds(o) - start, result.delta_h))
    return found


def call(command: list[str | Path], folder: Path, threads: int = 1) -> str:
    """Return what a program prints; its errors end the comparison."""
    done = subprocess.run([str(part) for part in command], cwd=folder,
                          env=os.environ | {"OMP_NUM_THREADS": str(threads)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def tmlqcd_input(template: str, folder: Path, o: argparse.Namespace) -> Path:
    """Write an input of tmLQCD, whose precisions are squares."""
    T, X, Y, Z = o.extents
    if not X == Y == Z:
        raise SystemExit("tmLQCD's inputs here have one extent in space")
    path = folder / "peer.input"
    path.write_text(template.format(L=X, T=T, squared=o.residual**2, **vars(o)))
    return path


def tmlqcd_solves(folder: Path, o: argparse.Namespace) -> dict[str, tuple[float, int]]:
    """Return (seconds, steps) of the propagator by `invert`."""
    text = call([o.tmlqcd / "invert", "-f", tmlqcd_input(INVERT, folder, o)], folder)
    found = re.findall(r"# CG: iter: (\d+) eps_sq: \S+ t/s: (\S+)", text)
    return {"propagator, double": (sum(float(t) for _, t in found), sum(int(n) for n, _ in found))}


def grid_solves(folder: Path, o: argparse.Namespace) -> dict[str, tuple[float, int]]:
    """Return (seconds, steps) of the propagator in double and mixed precision, and of the shifts."""
    T, X, Y, Z = o.extents
    text = call([o.grid, "--grid", f"{X}.{Y}.{Z}.{T}", "--threads", str(o.threads), "--dslash-unroll", "--solve",
                 "conf.nersc", str(o.kappa), str(o.residual)], folder, o.threads)
    found = re.findall(r"^(propagator, \w+|ten shifts),(\S+),(\d+)$", text, re.M)
    return {what: (float(taken), int(steps)) for what, taken, steps in found}


def grid_hmc(folder: Path, o: argparse.Namespace) -> list[tuple[float, float]]:
    """Return (seconds, Delta H) of each trajectory by Grid, whose steps are in double precision."""
    T, X, Y, Z = o.extents
    text = call([o.grid, "--grid", f"{X}.{Y}.{Z}.{T}", "--threads", str(o.threads), "--dslash-unroll", "--trajectories",
                 "conf.nersc", str(o.kappa), str(o.residual), str(o.beta), str(o.outer), str(o.inner),
                 str(o.trajectories)], folder, o.threads)
    return [(float(taken), float(change)) for taken, change in re.findall(r"^trajectory,(\S+),(\S+)$", text, re.M)]


def tmlqcd_hmc(folder: Path, o: argparse.Namespace) -> list[tuple[float, float]]:
    """Return (seconds, Delta H) of each trajectory by `hmc_tm`."""
    for old in folder.glob("output.data"):
        old.unlink()
    call([o.tmlqcd / "hmc_tm", "-f", tmlqcd_input(HMC, folder, o)], folder)
    rows = [line.split() for line in (folder / "output.data").read_text().splitlines()]
    return [(float(row[-1]), float(row[2])) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tmlqcd", type=Path, help="folder of invert and hmc_tm")
    parser.add_argument("--grid", type=Path, help="program of grid/beside.cpp")
    parser.add_argument("--extents", type=int, nargs=4, default=[8, 8, 8, 8], metavar=("T", "X", "Y", "Z"))
    parser.add_argument("--beta", type=float, default=6.0)
    parser.add_argument("--start", type=float, help="beta of the quenched field that all begin from, if another one")
    parser.add_argument("--kappa", type=float, default=0.14)
    parser.add_argument("--sweeps", type=int, default=30, help="of the quenched field")
    parser.add_argument("--residual", type=float, default=1e-10)
    parser.add_argument("--precision", default="single", help="of the steps of plaq's trajectories")
    parser.add_argument("--outer", type=int, default=8, help="steps of the force of quarks")
    parser.add_argument("--inner", type=int, default=3, help="steps of the gauge force for each of them")
    parser.add_argument("--trajectories", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of plaq and Grid")
    o = parser.parse_args()
    solves: dict[str, Callable] = {"plaq": lambda folder: plaq_solves(gauge, o)}
    chains: dict[str, Callable] = {"plaq": lambda folder: plaq_hmc(gauge, o)}
    if o.tmlqcd:
        solves["tmLQCD"], chains["tmLQCD"] = (lambda folder: tmlqcd_solves(folder, o),
                                              lambda folder: tmlqcd_hmc(folder, o))
    if o.grid:
        solves["Grid"], chains["Grid"] = lambda folder: grid_solves(folder, o), lambda folder: grid_hmc(folder, o)
    gauge = quenched(o.extents, o.start or o.beta, o.sweeps, o.threads)
    times: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lqcd.write_ildg(folder / "conf.0000", gauge)
        lqcd.write_nersc(folder / "conf.nersc", gauge)
        for _ in range(o.rounds):
            for program, run in solves.items():
                for what, pair in run(folder).items():
                    times[what, program].append(pair)
        print(f"plaquette {gauge.plaquette():.6f}\n\n| | | seconds | steps | ms a step |\n|---|---|---|---|---|")
        for (what, program), pairs in sorted(times.items()):
            taken, steps = statistics.median(t for t, _ in pairs), pairs[0][1]
            print(f"| {what} | {program} | {taken:.4f} | {steps or ''} | {1e3 * taken / steps:.3f} |" if steps else
                  f"| {what} | {program} | {taken:.4f} | | |")
        print("\n| trajectory | seconds | Delta H of each |\n|---|---|---|")
        for program, run in chains.items():
            found = run(folder)
            print(f"| {program} | {statistics.median(t for t, _ in found):.3f} | "
                  f"{', '.join(f'{d:.4g}' for _, d in found)} |")


if __name__ == "__main__":
    main()
