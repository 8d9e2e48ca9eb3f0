"""Refusal of inputs that cannot run: more ranks than chains, too much memory, or years of time."""

from __future__ import annotations

from plaq.data.formatting import format_duration, format_size
from plaq.dca.lattice.model import cluster_of
from plaq.dca.parameters import Parameters
from plaq.dca.planning.cost import Cost, Machine, cost
from plaq.dca.planning.distribution import may_be_distributed
from plaq.dca.solver import devices
from plaq.errors import InputError
from plaq.machine import memory, pool_options

CERTAIN = 3.0  # factor by which estimates may be wrong: needs beyond it are certain
LONGEST = 365 * 86400.0  # seconds of a run that may be meant


def check_ranks(parameters: Parameters, ranks: int) -> None:
    """Raise InputError when some ranks would have no chain."""
    chains = parameters.solver.chains
    if parameters.solver.kind != "ed" and ranks > chains:
        raise InputError(f"-n {ranks} ranks but solver.chains = {chains}: every rank needs a chain, so start at "
                         f"most {chains} ranks or give more chains")


def check_devices(p: Parameters, costs: list[Cost]) -> None:
    """Raise InputError when GPUs cannot run the input, or have no memory for one chain."""
    most = max(costs, key=lambda c: c.device_bytes)
    for gpu, place in devices.memory(p).items():
        if most.device_bytes > CERTAIN * place:
            raise InputError(f"T = {most.T:.5g} of dca.temperatures needs some {format_size(most.device_bytes)} of "
                             f"memory for each chain on a GPU, and a rank has {format_size(place)} of GPU {gpu}: raise "
                             'it, take fewer frequencies or channels, or run.device = "none"')


def check_needs(p: Parameters, ranks: int, place: float | None = None) -> None:
    """Raise InputError when that many ranks cannot run the input here, by the estimates of `plaq.dca.planning.cost`.

    place : bytes that a rank may have; by default its part of this machine's memory.
    """
    check_ranks(p, ranks)
    if p.solver.kind == "ed":
        return
    place = memory() if place is None else place
    workers = pool_options(p.run.workers, p.run.bind).workers
    cluster = cluster_of(p)
    costs = [cost(p, cluster, T, Machine(), ranks, workers) for T in p.dca.temperatures]
    alone, distributed = (lambda c: c.rank_bytes), (lambda c: c.distributed_bytes)
    either = (lambda c: min(alone(c), distributed(c))) if may_be_distributed(p) else alone
    needs = {"local": alone, "distributed": distributed, "auto": either}[p.run.two_particle]
    check_devices(p, costs)
    most = max(costs, key=needs)
    advice = "; `plaq check` has the estimate of every temperature"
    if needs(most) > CERTAIN * place:
        raise InputError(f"T = {most.T:.5g} of dca.temperatures needs some {format_size(needs(most))} of memory on "
                         f"each of {ranks} rank(s), and there are {format_size(place)}: raise it, or take fewer "
                         f"frequencies, bins or channels{advice}")
    seconds = sum(c.seconds for c in costs)
    if seconds > CERTAIN * LONGEST:
        raise InputError(f"solver.measurements = {p.solver.measurements} take some {format_duration(seconds)} on "
                         f"{ranks} rank(s) with {workers} worker(s): take fewer, or higher temperatures{advice}")
