"""Measurements on stored configurations: the simulation of ``plaq lqcd measure``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.formatting import format_duration
from plaq.errors import InputError
from plaq.lqcd.chain import lattice_of
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.files.find import find_files
from plaq.lqcd.files.gauge_formats import read_gauge
from plaq.lqcd.measuring import PARTS, PROPAGATORS, Measurements
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.results import Results
from plaq.run.driver import Run
from plaq.run.timing import timed


class Stored:
    """Measurements on files, one after the other, on all ranks."""

    def __init__(self, p: Parameters, run: Run):
        self.p, self.run = p, run
        self.seconds = {"files": 0.0, **dict.fromkeys(PARTS, 0.0)}
        self.lattice = lattice_of(p, run)
        self.files = run.comm.on_root(lambda: find_files(p.measure.configurations), share=True)
        state = run.resume()
        folder = run.comm.on_root(lambda: run.output.folder.path, share=True) if run.has_folder else None
        self.measured = Measurements(p, self.seconds, state, folder and folder / PROPAGATORS)
        self.before = len(self.measured)
        run.comm.on_root(lambda: check_order(self.files, state["names"][:self.before] if state else []))

    def steps(self) -> Iterator[None]:
        for number in sorted(self.measured.late()):
            self.measured.measure(self.read(number), number)
            yield False
        while (number := len(self.measured)) < len(self.files):
            self.measured.measure(self.read(number + 1), number + 1)
            self.show_status()
            self.run.line(f"configuration {number + 1} of {len(self.files)}: {self.files[number]}, plaquette "
                          f"{self.measured.plaquettes[-1]:.6f}")
            yield number + 1 == len(self.files)  # more files continue from there

    def read(self, number: int) -> GaugeField:
        """Return the configuration with this number, from one on. Collective."""
        with timed(self.seconds, "files"):
            options = self.p.measure
            return read_gauge(self.files[number - 1], self.lattice, verify=options.verify,
                              reunitarise=options.reunitarise)

    def show_status(self) -> None:
        done, total = len(self.measured), len(self.files)
        if not self.run.is_watched:
            return
        left = sum(self.seconds.values()) / (done - self.before) * (total - done)
        self.run.status(f"plaq lqcd · configuration {done} of {total}",
                        [("plaquette", f"{self.measured.plaquettes.mean():.6f}"), ("run left", format_duration(left))],
                        done / total)

    def state(self) -> dict[str, Any] | None:
        return self.run.output and {"names": [path.name for path in self.files], **self.measured.state()}

    def distributed_numbers(self):
        return None

    def results(self) -> Results:
        return self.measured.results(np.zeros((0, 2)))


def check_order(files: list[Path], before: list[str]) -> None:
    """Raise InputError where the first files do not have the names of those that were measured before."""
    for number, name in enumerate(before):
        if number >= len(files) or files[number].name != name:
            there = files[number].name if number < len(files) else "missing"
            raise InputError(f"measure.configurations: this folder has measured {name} as number {number + 1}, which "
                             f"is now {there}; name more files behind the others, or choose another folder with --out")
