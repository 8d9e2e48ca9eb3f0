"""Driver of a run of any application (plaq.run.application) from its input to its report."""

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
from plaq.errors import INTERRUPTIONS, InputError, Interrupted, InterruptedByUser, RunError, as_plaq_error, errors_of
from plaq.inputs.running import demand_parts
from plaq.machine import build, pool_options
from plaq.run import manifest
from plaq.run.application import Application, Results, Simulation
from plaq.run.folder import need_program
from plaq.run.live import Log, SilentLog, open_log
from plaq.run.output import RunOutput, drain
from plaq.run.progress import Tell, watching
from plaq.run.stop import Stop
from plaq.trace.session import Recording, Session, next_folder, region

STATUS_PERIOD = 0.1  # seconds, at least, between two updates of the status
REASONS = (None, *INTERRUPTIONS)


class Run:
    """Services of the driver for a simulation, on every rank.

    ``output`` is rank 0's, None on the others; ``has_folder`` is whether there is one. ``tell`` shows progress without
    one (plaq.run.progress).
    """

    def __init__(self, comm: Communicator, stop: Stop, output: RunOutput | None = None, has_folder: bool = False,
                 tell: Tell | None = None):
        self.comm, self.output, self.has_folder, self._stop, self.tell = comm, output, has_folder, stop, tell
        self._shown = -np.inf  # time of the last status

    @property
    def is_watched(self) -> bool:
        """Whether this rank shows a status."""
        return self.output is not None or self.tell is not None

    def status(self, title: str, rows: list[tuple[str, str]], done: float) -> None:
        """Show the state of the run, of which the part ``done`` is done; a few times per second are enough.

        On ranks that show none it does nothing.
        """
        now = time.monotonic()
        if now - self._shown < STATUS_PERIOD and done < 1:
            return
        self._shown = now
        if self.output:
            self.output.log.status(title, rows, done)
        if self.tell:
            self.tell(done, title.rpartition(" · ")[2])

    def line(self, text: str) -> None:
        """Log a line, if there is a log."""
        if self.output:
            self.output.log.line(text)

    def resume(self) -> dict[str, Any] | None:
        """Return the state that the run resumes from, the same on all ranks; None at the beginning. Collective."""
        output = self.output
        state = self.comm.on_root(lambda: output.state() if output else None, share=True)
        manifest.check(self.comm, *((output.folder.path, output.parts, output.remedy) if output else (None, {}, "")))
        self.comm.on_root(lambda: output.adopt(state) if output else None)
        return state

    def stop_reason(self) -> str | None:
        """Return why the run should stop, None if it should not; the same on all ranks. Collective."""
        return REASONS[self._highest(REASONS.index(self._stop.requested()))]

    def raise_if_stopped(self) -> None:
        """Raise Interrupted on all ranks if one of them is to stop. Collective."""
        if reason := self.stop_reason():
            raise INTERRUPTIONS[reason]

    def checkpoint_due(self) -> bool:
        """Return whether a checkpoint is due, as far as this rank knows."""
        return self.output is not None and self.output.due()

    def _highest(self, value: int) -> int:
        return int(self.comm.allreduce(np.array([value], float), "max")[0])

    @region("checkpoint")
    def save(self, simulation: Simulation) -> None:
        """Save the state of the simulation, on rank 0. Collective."""
        if self.has_folder:
            state, numbers = simulation.state(), simulation.distributed_numbers()
            folder, label = self.output and self.output.folder, (state or {}).get("parts")
            parts = manifest.describe_files(self.comm, folder and folder.path, label and folder.parts_path(label))
            self.comm.together(lambda: self._write(state, numbers, parts))

    def _write(self, state, numbers, parts) -> None:
        if self.output:
            self.output.checkpoint(state, numbers, parts)
        else:
            with drain([numbers.unsaved()] if numbers else ()):
                pass

    def carry_out(self, simulation: Simulation) -> Results:
        """Carry out all steps, with checkpoints, and return the results. Collective.

        Raises Interrupted after the last checkpoint when the run is to stop.
        """
        for keep in simulation.steps():
            reason = self.stop_reason()
            if keep or reason or self._highest(self.checkpoint_due()):
                self.save(simulation)
            if reason:
                raise INTERRUPTIONS[reason]
        results = simulation.results()
        if self.tell:
            self.tell(1.0, "done")
        return results


def run(kind: type[Application], parameters: Any, folder: str | Path | None = None, source: str = "Parameters",
        trace: bool | Recording = False, started: float | None = None, start: str | Path | None = None,
        progress: Any = None) -> Any:
    """Carry out an application's run and return its results.

    With a folder, rank 0 keeps a run folder up to date, and a run that was stopped there resumes from its last
    checkpoint; without one, nothing is written. With ``trace``, a trace is recorded in trace/000 of the folder, in
    trace/001 after a resume, and so forth. With ``start``, the folder of another run, it starts from the end of that
    one. ``progress`` is as `plaq.run.progress.watching` takes it; False prints nothing in a run with a folder either.
    Every rank of an MPI world calls this with the same arguments and gets the same results. Start-up counts from
    ``started`` (time.perf_counter), by default now. After a signal or at the wall-time limit everything is saved, and
    it ends with an exception that is no subclass of Exception: KeyboardInterrupt after SIGINT, SystemExit(143) after
    SIGTERM, SystemExit(0) at the limit.
    """
    try:
        return run_in_world(kind, parameters, folder, source, trace, started, start, progress)
    except InterruptedByUser as stopped:  # itself and no kind of it, or Python would not end as after a SIGINT
        raise KeyboardInterrupt(stopped.reason) from None


def run_in_world(kind: type[Application], parameters: Any, folder: str | Path | None, source: str,
                 trace: bool | Recording, started: float | None, start: str | Path | None, progress: Any = None) -> Any:
    """Carry out `run` on all ranks; raises Interrupted when it is stopped."""
    from plaq.comm import world

    with Stop(parameters.run.walltime) as stop, limit_waits(parameters.run.timeout, stop.requested):
        return run_on(kind, world(), parameters, folder, source, stop, open_log, trace, started, start, progress)


def run_on(kind: type[Application], comm: Communicator, parameters: Any, folder: str | Path | None,
           source: str, stop: Stop,
           make_log: Callable[[Path], Log], trace: bool | Recording = False, started: float | None = None,
           start: str | Path | None = None, progress: Any = None) -> Any:
    """Carry out `run` on the ranks of comm; ``stop`` requests an early stop."""
    started = time.perf_counter() if started is None else started
    comm.together(lambda: demand_parts(parameters.run))
    with errors_of(source):
        comm.together(lambda: kind(parameters).check(comm.size))
    folder, other = (None if path is None else Path(path) for path in (folder, start))
    comm.on_root(lambda: need_program(folder, kind.name) if folder else None)
    application = comm.on_root(lambda: kind.from_other(parameters, folder, other))
    parameters = comm.bcast(application and application.parameters)
    application = application or kind(parameters)
    if folder is None and trace:
        raise InputError("trace: a run without a folder cannot write a trace")
    if isinstance(trace, Recording):
        comm.together(lambda: trace.demand(comm.size))
    with watching(progress, comm.rank == 0, folder is not None) as tell:
        if folder is None:
            run = Run(comm, stop, tell=tell)
            return run.carry_out(application.prepare(run, started))
        make = make_log if progress is not False else SilentLog
        output = comm.on_root(lambda: RunOutput(application.name, application.parameters, folder, source,
                                                header(application, comm.size), make, parameters.run.checkpoint_every))
        return run_in_folder(application, Run(comm, stop, output, True, tell), folder, trace, started)


def run_in_folder(application: Application, run: Run, folder: Path, trace: bool | Recording, started: float) -> Any:
    """Carry out a run that keeps ``folder`` up to date, and close its output."""
    comm, output = run.comm, run.output
    try:
        what = trace if isinstance(trace, Recording) else Recording()
        with recording(comm, application.parameters, folder, output, what) if trace else nullcontext():
            with region("start-up"):
                simulation = application.prepare(run, started)
            results = run.carry_out(simulation)
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
    """Return the first lines of every run: build, machine and how the input is carried out."""
    run = application.parameters.run
    return {
        **build(),
        "ranks": ranks,
        "workers": workers(run),
        **application.header(),
        "input": application.parameters.fingerprint()[:16],
    }


def workers(run: Any) -> str:
    """Return the number of workers of this rank, in words."""
    options = pool_options(run.workers, run.bind)
    unbound = ", not bound to cores: the system refuses it" if _core.task.binding_is_refused(options) else ""
    return f"{options.workers} per rank ({run.threads}){unbound}"


@contextmanager
def recording(comm: Communicator, parameters: Any, folder: Path, output: RunOutput | None,
              what: Recording) -> Iterator[None]:
    """Record a trace in the next free folder of trace/; log its path, and ranks whose trace ends early."""
    place = comm.on_root(lambda: next_folder(folder / "trace"), share=True)
    run = parameters.run
    notes = {"back end": run.threads, "workers": pool_options(run.workers, run.bind).workers}
    with Session(place, comm, notes=notes, counters=what.counters, ranks=what.ranks) as session:
        comm.on_root(lambda: output.log.line(f"trace:  {place}"))
        yield
    for rank, problem in enumerate(comm.allgather(session.problem)):
        if problem:
            comm.on_root(lambda: output.log.line(f"the trace of rank {rank} ends early: {problem}"))


def finish(application: Application, output: RunOutput, results: Results) -> None:
    """Write results and report, and log the answer. On rank 0."""
    application.save(output, results)
    output.log.line()
    for sentence in results.answers():
        output.log.line(sentence)
    report, digest = application.report_with_digest(output.folder.path)
    spent = ", ".join(f"{part} {format_duration(seconds)}" for part, seconds in results.seconds.items()
                      if seconds > 0)
    output.log.line(f"time:   {format_duration(sum(results.seconds.values()))} ({spent})")
    output.log.line(f"checkpoints: {output.checkpoints()}")
    output.log.line(f"digest: {digest}")
    output.log.line(f"report: {report}")
