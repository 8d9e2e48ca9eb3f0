"""Measures the speeds that `plaq.dca.planning.cost` predicts with: `plaq dca calibrate`."""

from __future__ import annotations

import math
import operator
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from threadpoolctl import threadpool_limits

from plaq import _core
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.coarse_graining import CoarseGraining
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics import observables
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.planning.cost import FREQUENCIES, MACHINE, Machine
from plaq.dca.solver import ctaux
from plaq.dca.solver.chains import Chains, run_chains
from plaq.errors import RunError
from plaq.files.atomic import cannot_write
from plaq.machine import pool_options, processor

U, BINS = 6.0, 64
HOT, COLD = 2.0, 14.0  # beta: k of about 20 and 130 on four sites
CHANNEL = ("charge", 0, 0)
EXCHANGED, WRITTEN = 2**25, 2**27  # bytes
LONG_ENOUGH = 0.5  # seconds of a walk: many turns where ranks share cores
EVALUATIONS = 3  # the fastest counts


@threadpool_limits.wrap(limits=1)  # as a run has it
def measured_machine(comm, folder: Path) -> Machine:
    """Measure the speeds of this machine: one core, exchange between the ranks of comm, the disk below folder.

    Collective. One rank alone cannot measure the exchange, which keeps its default.
    """
    hot, cold = Walk(HOT, 0, comm), Walk(COLD, 0, comm)
    narrow, wide = Walk(COLD, 4, comm), Walk(COLD, 16, comm)
    general, plain = Walk(HOT, 16, comm, [CHANNEL]), Walk(HOT, 16, comm)
    # seconds of a sweep = k (6.5 k^2 / walk + proposal), of a measurement = operations / measure + measurement
    inverse_walk, proposal = line((6.5 * hot.order**3, hot.order), hot.sweep,
                                  (6.5 * cold.order**3, cold.order), cold.sweep)
    inverse_measure, rest = line((hot.operations, 1), hot.measurement, (wide.operations, 1), wide.measurement)
    element = max(general.measurement - plain.measurement, 0.0) / (2 * 4 * 16) ** 2
    analysis, sample = line((narrow.elements, 1), narrow.analysis, (wide.elements, 1), wide.analysis)
    latency, bandwidth = exchange(comm)
    name = f"{processor()}, {comm.size} rank(s)"
    values = dict(name=name, workers=pool_options().workers, walk=1 / inverse_walk, proposal=proposal,
                  measure=1 / inverse_measure, measurement=rest, element=element, analysis=analysis, sample=sample,
                  iteration=cold.iteration, startup=startup(), disk=disk(comm, folder))
    if gpus := _core.gpu.find_devices().gpus:
        values["gpu_memory"] = float(min(gpu.memory for gpu in gpus))
    if comm.size > 1:
        values |= {"latency": latency, "bandwidth": bandwidth}
    return Machine(MACHINE.read({"machine": values}, "measured")["machine"])


class Walk:
    """One chain on four sites at inverse temperature beta on every rank of comm: seconds of its parts. Collective."""

    def __init__(self, beta, window, comm, channels=()):
        lattice = Lattice.square()
        cluster = Cluster(lattice, [[2, 0], [0, 2]])
        group, coarse = PointGroup(cluster), CoarseGraining(cluster)
        model = Model(U, lattice, cluster, group, coarse, [], None)
        coarse.prepare(np.pi / beta)
        mesh = matsubara.mesh(beta, matsubara.frequency_cutoff(cluster.lattice, U))
        started = time.perf_counter()
        sigma = np.full((cluster.size, len(mesh.omega)), U / 2, dtype=complex)
        mu = find_mu(1.0, coarse, mesh, sigma, U / 2)
        g0 = ctaux.auxiliary_bath(mesh, 1 / (1 / coarse.gbar(1j * mesh.omega + mu - sigma) + sigma), U)
        self.order = 1 + beta * U * cluster.size * 0.36
        solver = SimpleNamespace(block_length="auto", measure_every=1, bins=BINS, chains=1,
                                 precision="double", seed=1)
        request = ctaux.SolverRequest(
            beta=beta, U=U, K=1.0, g0=g0, measurements=BINS, order=self.order, warm_up=50, point=0, iteration=0,
            window=window, pairing=window > 0 and not channels, orbit=pair_orbits(group),
            channels=list(channels))
        problem = ctaux.make_problem(cluster, mesh, request, solver)
        self.iteration = time.perf_counter() - started
        run = SimpleNamespace(threads="fiber", workers=1, bind="auto", chains_in_flight="auto",
                              device="none")
        alone = comm.split(comm.rank)
        while True:
            chains = Chains.fresh(alone, 1, BINS)
            comm.barrier()  # all ranks walk at the same time, as in a run
            started = time.perf_counter()
            run_chains(problem, chains, run, alone, lambda *_: None)
            seconds = comm.allreduce(time.perf_counter() - started, "min")
            if seconds >= LONG_ENOUGH:
                break
            request = replace(request, measurements=request.measurements * math.ceil(1.5 * LONG_ENOUGH / seconds))
            problem = ctaux.make_problem(cluster, mesh, request, solver)
        measured = ctaux.collect(problem, chains.bins, chains.tally(alone), group)
        count = int(measured.weights.sum())
        self.order = float(measured.order.mean() / measured.sign.mean())
        self.sweep = measured.walking_seconds / (count + request.warm_up) * self.order / problem.proposals_per_sweep
        self.measurement = measured.measuring_seconds / count
        self.operations = (4 * self.order**2 * (2 * FREQUENCIES + 4 * cluster.size + 2 * window)
                           + 16 * window**2 * cluster.size * (self.order + cluster.size**2))
        self.elements = 2 * (cluster.size * window) ** 2 * len(group.operations)
        evaluation = Evaluation(model, mesh, 1.0, mu, g0)
        self.analysis = math.inf
        for _ in range(EVALUATIONS):
            comm.barrier()
            started = time.perf_counter()
            observables.estimates(evaluation, measured, window, list(channels))
            self.analysis = min(self.analysis, (time.perf_counter() - started) / (BINS + 1))


def line(first, y1, second, y2):
    """Return (a, b) with a x + b z = y at the two points (x, z); a value that noise makes negative becomes tiny."""
    a, b = np.linalg.solve(np.array([first, second], dtype=float), np.array([y1, y2]))
    return max(float(a), 1e-18), max(float(b), 0.0)


def exchange(comm):
    """Measure (seconds of a step of an exchange, bytes per second): gathered on one rank and sent to all from there."""
    if comm.size == 1:
        return 0.0, 0.0

    def seconds(size, repeats):
        piece = np.zeros(size // comm.size // 8)
        comm.barrier()
        started = time.perf_counter()
        for _ in range(repeats):
            comm.bcast(comm.fold([piece], operator.add))
        return (time.perf_counter() - started) / repeats

    small, large = seconds(0, 50), seconds(EXCHANGED, 5)
    steps = 2 * np.ceil(np.log2(comm.size))
    values = small / steps, EXCHANGED * (1 - 1 / comm.size) / max(large - small, 1e-9)
    return tuple(float(v) for v in comm.bcast(values))


def startup():
    """Measure the seconds until a fresh process has imported the modules of a run."""
    started = time.perf_counter()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "PMIX_", "MPI", "PLAQ_"))}
    subprocess.run([sys.executable, "-P", "-c", "import plaq.dca.loop.loop, plaq.dca.commands"], check=True, env=clean)
    return time.perf_counter() - started


def disk(comm, folder):
    """Measure the bytes per second to a file below folder, until they are safe."""
    def rate():
        block = os.urandom(WRITTEN // 8)
        started = time.perf_counter()
        try:
            with tempfile.NamedTemporaryFile(dir=folder) as file:
                for _ in range(8):
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunError(cannot_write(folder, error)) from error
        return WRITTEN / (time.perf_counter() - started)

    return comm.on_root(rate, share=True)
