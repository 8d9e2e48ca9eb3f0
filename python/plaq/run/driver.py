"""Drives a run of any application (plaq.run.application) from its input to its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from plaq import _core
from plaq.comm.communicator import Communicator
from plaq.comm.timeout import limit_waits
from plaq.data.formatting import format_duration
from plaq.errors import INTERRUPTIONS, InputError, Interrupted, InterruptedByUser, RunError, as_plaq_error
from plaq.inputs.running import demand_parts
from plaq.machine import build, pool_options
from plaq.run import manifest
from plaq.run.application import Application, Results, Simulation
from plaq.run.folder import need_program
from plaq.run.live import Log, open_log
from plaq.run.output import RunOutput, drain
from plaq.run.stop import Stop
from plaq.trace.session import Session, next_folder, region

REASONS = (None, *INTERRUPTIONS)


class Run:
    """What a simulation may ask of its run, on every rank. ``output`` is rank 0's, None on the others; ``kept`` is
    whether there is one, which a run without a folder has not."""

    def __init__(self, comm: Communicator, stop: Stop, output: RunOutput | None = None, kept: bool = False):
        self.comm, self.output, self.kept, self._stop = comm, output, kept, stop

    def resume(self) -> dict[str, Any] | None:
        """The state that the run goes on from, the same on all ranks; None where it begins. Collective."""
        output = self.output
        found = self.comm.on_root(lambda: output.state() if output else None, share=True)
        manifest.check(self.comm, *((output.folder.path, output.parts, output.remedy) if output else (None, {}, "")))
        self.comm.on_root(lambda: output.adopt(found) if output else None)
        return found

    def stop_reason(self) -> str | None:
        """Why the run should stop, None to go on; the same on all ranks. Collective."""
        return REASONS[self._agreed(REASONS.index(self._stop.requested()))]

    def raise_if_stopped(self) -> None:
        """Raises Interrupted on all ranks if one of them is to stop. Collective."""
        if reason := self.stop_reason():
            raise INTERRUPTIONS[reason]

    def checkpoint_due(self) -> bool:
        """Whether it is time for one, as far as this rank knows."""
        return self.output is not None and self.output.due()

    def _agreed(self, mine: int) -> int:
        return int(self.comm.allreduce(np.array([mine], float), "max")[0])

    @region("checkpoint")
    def save(self, simulation: Simulation) -> None:
        """Rank 0 keeps its state. Collective."""
        if self.kept:
            state, spread = simulation.state(), simulation.spread()
            folder, label = self.output and self.output.folder, (state or {}).get("parts")
            parts = manifest.described(self.comm, folder and folder.path, label and folder.parts(label))
            self.comm.together(lambda: self._write(state, spread, parts))

    def _write(self, state, spread, parts) -> None:
        if self.output:
            self.output.checkpoint(state, spread, parts)
        else:
            with drain([spread.unsaved()] if spread else ()):
                pass

    def carry_out(self, simulation: Simulation) -> Results:
        """All its steps, with checkpoints; Interrupted after the last checkpoint when the run is to stop.
        Collective."""
        for keep in simulation.steps():
            reason = self.stop_reason()
            if keep or reason or self._agreed(self.checkpoint_due()):
                self.save(simulation)
            if reason:
                raise INTERRUPTIONS[reason]
        return simulation.results()


def run(kind: type[Application], parameters: Any, folder: str | Path | None = None, source: str = "Parameters",
        trace: bool = False, started: float | None = None, start: str | Path | None = None) -> Any:
    """Carry out an application's run; its results.

    With a folder, rank 0 keeps a run folder up to date and a run that was stopped there goes on from its last
    checkpoint; without one, nothing is written. With ``trace``, what happens is recorded in trace/000 of the
    folder, in trace/001 when the run goes on, and so forth. With ``start``, the folder of another run, it starts
    from what that one ended with. Every rank of an MPI world calls this with the same arguments and gets the same
    results. Start-up counts from ``started`` (time.perf_counter), by default now. After a signal or at the wall-time
    limit ends with what is no Exception, and everything saved: KeyboardInterrupt after SIGINT, SystemExit(143) after
    SIGTERM, SystemExit(0) at the limit.
    """
    try:
        return run_in_world(kind, parameters, folder, source, trace, started, start)
    except InterruptedByUser as stopped:  # itself and no kind of it, or Python would not end as after a SIGINT
        raise KeyboardInterrupt(stopped.reason) from None


def run_in_world(kind: type[Application], parameters: Any, folder: str | Path | None, source: str, trace: bool,
                 started: float | None, start: str | Path | None) -> Any:
    """`run`, which raises Interrupted when it is stopped."""
    from plaq.comm import world

    with Stop(parameters.run.walltime) as stop, limit_waits(parameters.run.timeout, stop.requested):
        return run_on(kind, world(), parameters, folder, source, stop, open_log, trace, started, start)


def run_on(kind: type[Application], comm: Communicator, parameters: Any, folder: str | Path | None,
           source: str, stop: Stop,
           make_log: Callable[[Path], Log], trace: bool = False, started: float | None = None,
           start: str | Path | None = None) -> Any:
    """`run` on the ranks of comm; ``stop`` says when to stop early."""
    started = time.perf_counter() if started is None else started
    comm.together(lambda: demand_parts(parameters.run))
    comm.together(lambda: kind(parameters).check(comm.size))
    folder, other = (None if path is None else Path(path) for path in (folder, start))
    comm.on_root(lambda: need_program(folder, kind.name) if folder else None)
    application = comm.on_root(lambda: kind.from_other(parameters, folder, other))
    parameters = comm.bcast(application and application.parameters)
    application = application or kind(parameters)
    if folder is None:
        if trace:
            raise InputError("trace: a run without a folder has no place for one")
        unkept = Run(comm, stop)
        return unkept.carry_out(application.prepare(unkept, started))
    output = comm.on_root(lambda: RunOutput(application.name, application.parameters, folder, source,
                                     header(application, comm.size), make_log, parameters.run.checkpoint_every))
    try:
        with recording(comm, parameters, folder, output) if trace else nullcontext():
            kept = Run(comm, stop, output, kept=True)
            with region("start-up"):
                simulation = application.prepare(kept, started)
            results = kept.carry_out(simulation)
            comm.on_root(lambda: finish(application, output, results))
    except Interrupted as interrupted:
        reason = interrupted.reason
        comm.on_root(lambda: output.log.line(f"stopped by {reason}: the state is saved in {folder}; the same command "
                                           "continues"))
        raise
    except Exception as error:
        if output and (known := as_plaq_error(error)):
            with suppress(RunError):  # a full disk may be the error
                output.log.record(f"stopped by an error: {known}")
        raise
    finally:
        if output:
            output.close()
    return results


def header(application: Application, ranks: int) -> dict[str, Any]:
    """What every run says first: build, machine and how the input is carried out."""
    run = application.parameters.run
    return {
        **build(),
        "ranks": ranks,
        "workers": workers(run),
        **application.header(),
        "input": application.parameters.fingerprint()[:16],
    }


def workers(run: Any) -> str:
    """How many there are on this rank, in words."""
    options = pool_options(run.workers, run.bind)
    unbound = ", not bound to cores: the system refuses it" if _core.task.binding_is_refused(options) else ""
    return f"{options.workers} per rank ({run.threads}){unbound}"


@contextmanager
def recording(comm: Communicator, parameters: Any, folder: Path, output: RunOutput | None) -> Iterator[None]:
    """A session of `plaq.trace` in the next free folder of trace/; says where it is, and when it ends early."""
    place = comm.on_root(lambda: next_folder(folder / "trace"), share=True)
    run = parameters.run
    how = {"back end": run.threads, "workers": pool_options(run.workers, run.bind).workers}
    with Session(place, comm, notes=how) as session:
        comm.on_root(lambda: output.log.line(f"trace:  {place}"))
        yield
    for rank, problem in enumerate(comm.allgather(session.problem)):
        if problem:
            comm.on_root(lambda: output.log.line(f"the trace of rank {rank} ends early: {problem}"))


def finish(application: Application, output: RunOutput, results: Results) -> None:
    """Write results and report, and say the answer. On rank 0."""
    application.save(output, results)
    output.log.line()
    for sentence in results.answers():
        output.log.line(sentence)
    report = application.report(output.folder.path)
    spent = ", ".join(f"{part} {format_duration(seconds)}" for part, seconds in results.seconds.items())
    output.log.line(f"time:   {format_duration(sum(results.seconds.values()))} ({spent})")
    output.log.line(f"checkpoints: {output.checkpoints()}")
    output.log.line(f"digest: {application.digest(output.folder.path)[-1]}")
    output.log.line(f"report: {report}")
