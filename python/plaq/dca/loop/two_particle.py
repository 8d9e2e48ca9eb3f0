"""Place of the two-particle sums of an iteration: the chains' bins, or rows that ranks share (`DistributedG4`)."""

from __future__ import annotations

from dataclasses import replace

from plaq.dca.loop.setup import Setup
from plaq.dca.loop.state import TemperatureState
from plaq.dca.planning.distribution import is_distributed
from plaq.dca.solver import iteration_average
from plaq.dca.solver.ctaux import SolverRequest
from plaq.dca.solver.distributed_g4 import DistributedG4, pair_functions


def distribute(setup: Setup, state: TemperatureState, request: SolverRequest, problem,
               stored: list[list[int]]) -> TemperatureState:
    """Return the state with its two-particle sums where this run keeps them. Collective.

    A checkpoint has bins of a `DistributedG4` as ``stored``, or all sums in the chains' bins. Either resumes as the
    other, on any number of ranks.
    """
    state = replace(state, distributed=None)
    if not request.window:
        return state
    comm = setup.run.comm
    shared = is_distributed(setup.parameters, setup.model.cluster, setup.T, comm)
    if not stored and not shared:
        return state
    functions = pair_functions(request.window, setup.model.cluster.size, request.orbit if request.pairing else None,
                               len(request.channels))
    solver, bins, average = setup.parameters.solver, state.chains.bins, state.average
    g4 = DistributedG4(comm if shared else comm.split(comm.rank), functions, solver.bins, solver.chains,
                       f"{setup.index}.{state.iteration}")
    if stored:
        output = setup.run.output
        g4.restore(stored, lambda count: comm.on_root(lambda: output.numbers(count), share=True))
    else:
        g4.cut_from(bins, min(a.offset for name, a in problem.layout().items() if name in functions))
        if average:
            g4.average = g4.cut(iteration_average.two_particle_rows(average))
    if average:
        average = iteration_average.with_two_particle_rows(average, g4.average)
    if not shared:
        g4.join_to(bins)
    return replace(state, average=average, distributed=g4 if shared else None)
