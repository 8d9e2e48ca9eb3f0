"""``plaq dca`` as an application that `plaq.run` drives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from plaq.dca import continuation
from plaq.dca.lattice.model import cluster_of
from plaq.dca.lattice.particle_hole import at_half_filling
from plaq.dca.loop.first_sigma import first_sigma
from plaq.dca.loop.observer import Contributor, Observer, QuietObserver, Shower
from plaq.dca.loop.start import Start, find_start
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.dca.planning.cost import Machine, cost
from plaq.dca.planning.forecast import describe, forecast, remark
from plaq.dca.planning.needs import check_needs
from plaq.dca.results import sweep_table
from plaq.dca.results.file import StoredRun, read_results, read_run
from plaq.dca.results.results import Results
from plaq.dca.solver import devices
from plaq.files.sealed import Format
from plaq.run.application import Application
from plaq.run.driver import Run
from plaq.run.forecast import Forecast
from plaq.run.output import RunOutput

if TYPE_CHECKING:
    from plaq.data.display import Drawing
    from plaq.dca.continuation.run_spectra import Spectra
    from plaq.dca.loop.loop import Loop


class Dca(Application):
    """Application of ``plaq dca``. start : of the first temperature, on rank 0."""

    name = PROGRAM
    Parameters = Parameters

    def __init__(self, parameters: Parameters, start: Start | None = None):
        super().__init__(parameters)
        self._start = start

    @classmethod
    def from_other(cls, parameters: Parameters, folder: Path | None, other: Path | None) -> Self:
        start = find_start(parameters, folder, other)
        return cls(parameters.replace(dca={"start": start.hash}) if start else parameters, start)

    def check(self, ranks: int, place: float | None = None) -> None:
        check_needs(self.parameters, ranks, place)
        p = self.parameters
        first_sigma(p, cluster_of(p), p.dca.temperatures[0])  # that it can be read

    def describe(self) -> str:
        return describe(self.parameters)

    def drawing(self) -> Drawing:
        from plaq.dca.lattice.picture import drawing

        return drawing(cluster_of(self.parameters), self.parameters.dca.mu, self.parameters.unit)

    def estimate(self, ranks: int, workers: int | None, machine: Path | None) -> Forecast:
        speeds = Machine.read(machine) if machine else Machine()
        return forecast(self.parameters, speeds, ranks, workers or speeds.workers)

    def expected_seconds(self) -> float:
        """Return the seconds of the cost model; exact diagonalisation counts as one second a temperature."""
        p = self.parameters
        cluster = cluster_of(p)
        return sum(1.0 if p.solver.kind == "ed" else cost(p, cluster, T, Machine(), 1, 1).core_seconds
                   for T in p.dca.temperatures)

    @classmethod
    def derived_files(cls) -> dict[str, Format]:
        from plaq.dca.continuation import file

        return {continuation.FILE: file.FORMAT}

    def header(self) -> Mapping[str, Any]:
        p = self.parameters
        hint = remark(p)
        symmetric = at_half_filling(p, cluster_of(p)) is not None
        return {**({"remark": hint} if hint else {}),
                **({"half filling": "mu = U/2, particle-hole symmetry"} if symmetric else {}),
                "chains": p.solver.chains, "seed": p.solver.seed,
                **({"device": devices.words(p)} if p.run.device != "none" and p.solver.kind == "ctaux" else {}),
                **({"start": p.dca.start[:16]} if p.dca.start else {})}

    def prepare(self, run: Run, started: float) -> Loop:
        from plaq.dca.loop.loop import Loop

        p, start = self.parameters, self._start
        if not run.has_folder:
            observer = Shower(p, run.status) if run.is_watched else QuietObserver()
            return Loop(p, run, observer, start and start.state, started)
        observer = run.comm.on_root(lambda: Observer(p, run.output, run.status)) or Contributor()
        state = run.comm.on_root(lambda: observer.resume(start))
        return Loop(p, run, observer, state, started)

    def save(self, output: RunOutput, results: Results) -> None:
        Observer(self.parameters, output).save(results)

    @classmethod
    def read_results(cls, folder: Path) -> Results:
        return read_results(folder / "results.h5")[0]

    @classmethod
    def export(cls, folder: Path, out: Path) -> list[Path]:
        from plaq.dca.results.export import export

        spectra = cls.spectra(folder, read_results(folder / "results.h5", functions=False)[0])
        return export(folder, out, spectra.csv() if spectra else {})

    @classmethod
    def plot(cls, folder: Path) -> list[Path]:
        from plaq.dca.results.plot import draw_figures

        results = read_results(folder / "results.h5", functions=False)[0]
        spectra = cls.spectra(folder, results)
        return draw_figures(folder, results, spectra.drawings() if spectra else {})

    @classmethod
    def scalars(cls, results: Results) -> list[dict[str, Any]]:
        """Return a row for each temperature."""
        from plaq.dca.results.export import scalars

        return scalars(results)

    @classmethod
    def outcome(cls, results: Results) -> dict[str, Any]:
        tc = results.tc
        text = f"T_c = {tc['value']:.4g} +- {tc['error']:.2g}" if tc["value"] else tc["status"]
        return tc | {"in_words": text}

    @classmethod
    def record_sweep(cls, base: Path, runs: Mapping[str, Any], outcomes: Mapping[str, Mapping[str, Any]]) -> Path:
        """Write the table of a sweep and its page."""
        sweep_table.write(base, runs, outcomes)
        return cls.sweep_page(base)

    @classmethod
    def sweep_page(cls, base: Path) -> Path:
        from plaq.dca.results.sweep_report import write_page

        return write_page(base)

    @classmethod
    def report(cls, folder: Path) -> Path:
        """Write the report with all figures."""
        return cls.write_report(folder, read_run(folder))

    @classmethod
    def report_with_digest(cls, folder: Path) -> tuple[Path, str]:
        run = read_run(folder)
        return cls.write_report(folder, run), run.digest

    @classmethod
    def write_report(cls, folder: Path, run: StoredRun) -> Path:
        """Draw the figures of a run and write its report; return the path of the report."""
        from plaq.dca.continuation.report import spectra_part
        from plaq.dca.results.plot import draw_figures
        from plaq.dca.results.report import write_report

        spectra = cls.spectra(folder, run.results)
        draw_figures(folder, run.results, spectra.drawings() if spectra else {})
        return write_report(folder, run, spectra_part(folder, spectra))

    @classmethod
    def spectra(cls, folder: Path, results: Results) -> Spectra | None:
        """Return the spectra in a run's folder; None where there are none of these results."""
        if not (folder / continuation.FILE).exists():
            return None
        from plaq.dca.continuation.run_spectra import stored

        return stored(folder, results.points)
