"""The commands of ``plaq dca``, as functions that Python can call too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from plaq.comm.patience import patient
from plaq.data.words import duration
from plaq.dca.observer import Contributor, Observer, QuietObserver
from plaq.dca.parameters import Parameters
from plaq.dca.planning.needs import check_needs
from plaq.dca.results import sweep_record
from plaq.dca.results.file import digest_line, read_results
from plaq.dca.results.results import Results
from plaq.dca.start import Start, find_start
from plaq.errors import InputError, Interrupted, RunError, as_plaq_error
from plaq.machine import build, pool_options
from plaq.run.folder import RunFolder
from plaq.run.live import Log, open_log
from plaq.run.stop import Stop
from plaq.trace.session import Session, next_folder, region


def run(parameters: Parameters, folder: str | Path | None = None, source: str = "Parameters",
        trace: bool = False, started: float | None = None, start: str | Path | None = None) -> Results:
    """Solve the model at all temperatures and look for the transition.

    With a folder, rank 0 keeps a run folder up to date and a run that was stopped there goes on from its last
    checkpoint; without one, nothing is written. With ``trace``, what happens is recorded in trace/000 of the folder,
    in trace/001 when the run goes on, and so forth. With ``start``, the folder of another run, the first temperature
    starts from that one's self-energy and configurations (plaq.dca.start). Every rank of an MPI world calls this with
    the same arguments and gets the same results. Start-up counts from ``started`` (time.perf_counter), by default now.
    Raises Interrupted after a signal or the wall-time limit, with everything saved.
    """
    from plaq.comm import world

    with Stop(parameters.run.walltime) as stop, patient(parameters.run.patience, stop.requested):
        return run_on(world(), parameters, folder, source, stop, open_log, trace, started, start)


def run_on(comm: Any, parameters: Parameters, folder: str | Path | None, source: str, stop: Stop,
           make_log: Callable[[Path], Log], trace: bool = False, started: float | None = None,
           start: str | Path | None = None) -> Results:
    """`run` on the ranks of comm; ``stop`` says when to stop early."""
    from plaq.dca.loop import Loop

    started = time.perf_counter() if started is None else started
    comm.together(lambda: check_needs(parameters, comm.size))
    folder, other = (None if path is None else Path(path) for path in (folder, start))
    begin = comm.on_root(lambda: find_start(parameters, folder, other))
    if found := comm.bcast(begin and begin.hash):
        parameters = parameters.replace(dca={"start": found})
    if folder is None:
        if trace:
            raise InputError("trace: a run without a folder has no place for one")
        return Loop(parameters, comm, QuietObserver(stop), begin and begin.state, started).run()
    desk = comm.on_root(lambda: Desk(parameters, folder, source, comm.size, stop, make_log))
    try:
        with recording(comm, parameters, folder, desk) if trace else nullcontext():
            with region("start-up"):
                state = comm.on_root(lambda: desk.state(begin))
                loop = Loop(parameters, comm, desk.observer if desk else Contributor(stop), state, started)
            results = loop.run()
            comm.on_root(lambda: desk.finish(results))
    except Interrupted as interrupted:
        comm.on_root(lambda: desk.log.line(f"stopped by {interrupted.reason}: the state is saved in {folder}; the same "
                                           "command continues"))
        raise
    except Exception as error:
        if desk and (known := as_plaq_error(error)):
            with suppress(RunError):  # a full disk may be the error
                desk.log.record(f"stopped by an error: {known}")
        raise
    finally:
        if desk:
            desk.close()
    return results


@contextmanager
def recording(comm: Any, parameters: Parameters, folder: Path, desk: Desk | None) -> Iterator[None]:
    """A session of `plaq.trace` in the next free folder of trace/; says where it is, and when it ends early."""
    place = comm.on_root(lambda: next_folder(folder / "trace"), share=True)
    run = parameters.run
    how = {"back end": run.threads, "workers": pool_options(run.workers, run.bind).workers}
    with Session(place, comm, notes=how) as session:
        comm.on_root(lambda: desk.log.line(f"trace:  {place}"))
        yield
    for rank, problem in enumerate(comm.allgather(session.problem)):
        if problem:
            comm.on_root(lambda: desk.log.line(f"the trace of rank {rank} ends early: {problem}"))


class Desk:
    """Rank 0's place to write at: the claimed run folder, its log, and the observer that uses both."""

    def __init__(self, parameters: Parameters, path: Path, source: str, ranks: int, stop: Stop,
                 make_log: Callable[[Path], Log]):
        with ExitStack() as opened:  # gives the folder back when anything fails here
            self.folder = opened.enter_context(closing(RunFolder(path, source, parameters)))
            self.header = run_header(parameters, ranks)
            self.log: Log = opened.enter_context(closing(make_log(self.folder.log)))
            for name, value in self.header.items():
                self.log.line(f"{name + ':':<16}{value}")
            self.log.line()
            self.observer = Observer(parameters, self.folder, self.log, self.header, stop)
            self._opened = opened.pop_all()

    def state(self, begin: Start | None) -> dict[str, Any] | None:
        """Where the run goes on, None if at the very beginning. A start from another run is kept here at once."""
        state = self.observer.resume()
        if state is None and begin is not None:
            state = begin.state
            self.observer.checkpoint(state)
            self.log.line(begin.words)
        return state

    def finish(self, results: Results) -> None:
        """Write results, figures and report, and say the answer."""
        from plaq.dca.results.plot import save_figures
        from plaq.dca.results.report import write_report

        self.observer.save(results)
        self.log.line()
        for sentence in results.answers():
            self.log.line(sentence)
        save_figures(self.folder.path)
        write_report(self.folder.path)
        spent = ", ".join(f"{part} {duration(seconds)}" for part, seconds in results.seconds.items())
        self.log.line(f"time:   {duration(sum(results.seconds.values()))} ({spent})")
        self.log.line(f"checkpoints: {self.observer.checkpoints()}")
        self.log.line(f"digest: {digest_line(self.folder.results)}")
        self.log.line(f"report: {self.folder.report}")

    def close(self) -> None:
        self._opened.close()


def run_header(parameters: Parameters, ranks: int) -> dict[str, Any]:
    """What every run says first: build, machine and how the input is carried out."""
    run = parameters.run
    return {
        **build(),
        "ranks": ranks,
        "workers": f"{pool_options(run.workers, run.bind).workers} per rank ({run.threads})",
        "chains": parameters.solver.chains,
        "seed": parameters.solver.seed,
        **({"start": parameters.dca.start[:16]} if parameters.dca.start else {}),
        "input": parameters.fingerprint()[:16],
    }


def load(folder: str | Path) -> Results:
    """The results in a run folder, also of a run that is not finished."""
    return read_results(Path(folder) / "results.h5")[0]


def digest(folder: str | Path) -> list[str]:
    """The hash of a run's results and what of a machine it depends on; of a sweep a line for each run and one for all."""
    if sweep_record.is_sweep(Path(folder)):
        return sweep_record.digests(Path(folder))
    return [digest_line(Path(folder) / "results.h5")]


def report(folder: str | Path) -> Path:
    """Draw the figures and write ``report.html`` of a run folder or of a sweep again; the path of the report."""
    from plaq.dca.results.plot import save_figures
    from plaq.dca.results.report import write_report
    from plaq.dca.results.sweep_report import write_page

    if sweep_record.is_sweep(Path(folder)):
        return write_page(Path(folder))
    save_figures(Path(folder))
    return write_report(Path(folder))
