"""The file ``results.h5`` of any application: sealed HDF5 with the input, a header, estimates, and records.

Layout: attributes ``format``, ``version``; ``input`` (TOML), ``header``, groups of the application, and ``seconds``. An
estimate is a group with ``mean``, ``error``, ``jackknife``, ``bias`` and axes; attributes ``axes``, ``unit``,
``convention``, ``note``, and, if known, ``tau_int``, ``tau_int_error``, ``disagreement``, ``kurtosis``, and of a fit
``chi2``, ``dof`` and ``p``. Errors by the Gamma method are in the group ``gamma``. A record is a group with ``values``,
the axes and the same attributes up to ``note``. Names with slashes, as ``mesons/pion/gamma5``, are groups in groups.

Axes are HDF5's dimension scales (plaq.data.axes_file). In version 2 they were datasets ``axis_<name>``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from plaq.data import display
from plaq.data.axes_file import read_axes, write_axes
from plaq.data.estimate import Estimate, mark_bins
from plaq.data.gamma_method import GammaErrors
from plaq.data.recorded import Recorded
from plaq.files.atomic import atomic_file
from plaq.files.sealed import Format, new_file, open_sealed, seal
from plaq.files.tree import digest, read_tree, write_tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from plaq.data.display import Drawing

PARTS = ("mean", "error")
# About an estimate, where they are known.
NUMBERS = ("tau_int", "tau_int_error", "disagreement", "kurtosis", "chi2", "dof", "p")
SUMMARY = frozenset({"tau_int", "tau_int_error", "chi2", "dof", "p"})

# Members that may differ between runs of the same results: times, and the history of the loop.
NOT_A_RESULT = frozenset({"seconds", "history", "input", "header", "answers"})
BITS_DEPEND_ON = ("kernels", "numpy")  # names in the header


@dataclass(repr=False)
class Findings:
    """Results of a run: estimates by name, sentences about them, times of its parts, and records without errors.

    ``history`` holds data on the course of the run that are no result, as plaq.files.tree takes it.
    """

    estimates: dict[str, Estimate]
    sentences: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    recorded: dict[str, Recorded] = field(default_factory=dict)
    history: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        mark_bins(self.estimates.values())

    def answers(self) -> list[str]:
        return self.sentences

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def to_dataframe(self) -> DataFrame:
        """Return value, error, unit and notes of every number, a row for each. ImportError without pandas."""
        from plaq.data.export import scalars
        from plaq.data.tables import dataframe

        return dataframe(scalars(self))

    def to_xarray(self) -> Dataset:
        """Return estimates by name, and records; of a name that both have, ``<name>_series`` is the record.

        Names have dots for slashes. See plaq.data.datasets. ImportError without xarray.
        """
        from plaq.data.datasets import dataset

        recorded = {f"{name}_series" if name in self.estimates else name: record
                    for name, record in self.recorded.items()}
        return dataset({name.replace("/", "."): part for name, part in {**self.estimates, **recorded}.items()})

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures that there are data for, by name."""
        return {name: display.estimate_drawing(e) for name, e in self.estimates.items()}

    def plot(self, name: str) -> Figure:
        """Return one of the figures."""
        return display.drawing_of(self.drawings(), name).figure()

    def __repr__(self) -> str:
        program = " ".join(type(self).__module__.split(".")[:2])
        return f"<{program} results: {(self.answers() or ['none'])[0]}>"

    def _repr_html_(self) -> str:
        return display.findings_html(self)


def format_of(program: str) -> Format:
    """Return the format of an application's results."""
    return Format(f"{program} results", 3, "remove it, and the command of the run writes it again", oldest=2)


def image(format: Format, input_toml: str, header: Mapping[str, Any], seconds: Mapping[str, float],
          fill: Callable[[h5py.File], None]) -> io.BytesIO:
    """Return such a file, not yet sealed; ``fill`` adds the application's groups."""
    content = io.BytesIO()
    with new_file(content) as file:
        file.attrs["format"] = format.name
        file.attrs["version"] = format.version
        file["input"] = input_toml
        write_tree(file.create_group("header", track_order=True), dict(header))
        fill(file)
        write_tree(file.create_group("seconds", track_order=True), dict(seconds))
    return content


def write(path: Path, format: Format, findings: Findings, input_toml: str, header: Mapping[str, Any]) -> None:
    """Replace the file at ``path`` as a whole; RunError if it cannot be written, and the previous one is kept."""
    def fill(file: h5py.File) -> None:
        write_tree(file.create_group("answers", track_order=True), {"sentences": findings.sentences})
        estimates = file.create_group("estimates", track_order=True)
        for name, estimate in findings.estimates.items():
            write_estimate(member(estimates, name), estimate)
        recorded = file.create_group("recorded", track_order=True) if findings.recorded else None
        for name, record in findings.recorded.items():
            group = member(recorded, name)
            group.create_dataset("values", data=record.values)
            write_labels(group, record)
        if findings.history:
            write_tree(file.create_group("history", track_order=True), findings.history)

    content = image(format, input_toml, header, findings.seconds, fill)
    with atomic_file(path) as file:
        file.write(content.getbuffer())
        seal(file, format)


def read(path: Path, format: Format) -> tuple[Findings, str, dict[str, Any]]:
    """Return (findings, input as TOML, header of the run). InputError if it is not such a file."""
    with open_sealed(path, format) as file:
        estimates = {name: read_estimate(name, group) for name, group in members(file["estimates"], "mean")}
        recorded = {name: read_recorded(name, group) for name, group in members(file.get("recorded", {}), "values")}
        findings = Findings(estimates, read_tree(file["answers"])["sentences"], read_tree(file["seconds"]), recorded,
                            read_tree(file["history"]) if "history" in file else {})
        return findings, file["input"].asstr()[()], read_tree(file["header"])


def member(group: h5py.Group, path: str) -> h5py.Group:
    """Return a new group at a path, whose parts are separated by slashes and keep their order."""
    *outer, name = path.split("/")
    for part in outer:
        group = group[part] if part in group else group.create_group(part, track_order=True)
    return group.create_group(name, track_order=True)


def members(group: Mapping[str, Any], dataset: str, prefix: str = "") -> Iterator[tuple[str, h5py.Group]]:
    """Yield (path, group) of all groups that have this dataset, at any depth."""
    for name, part in group.items():
        if dataset in part:
            yield prefix + name, part
        else:
            yield from members(part, dataset, f"{prefix}{name}/")


def summary(findings: Findings, header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``summary.json``: answers, estimates, seconds by part, header.

    Estimates are {value, error} of quantities that are one real number, with their autocorrelation and fit if known.
    """
    numbers = {name: {"value": float(e.mean), "error": float(e.error),
                      **{key: getattr(e, key) for key in NUMBERS if key in SUMMARY and getattr(e, key) is not None}}
               for name, e in findings.estimates.items() if not e.mean.ndim and not np.iscomplexobj(e.mean)}
    return {"answers": findings.answers(), "estimates": numbers, "seconds": findings.seconds, "header": dict(header)}


def digest_of(path: Path, format: Format) -> str:
    """Return one hash of all results: equal for two runs that gave the same bits, on any machine at any speed."""
    with open_sealed(path, format) as file:
        return digest(file, NOT_A_RESULT)


def digest_line(path: Path, format: Format) -> str:
    """Return the digest, and in brackets the properties of the machine that its bits depend on."""
    with open_sealed(path, format) as file:
        return digest_line_of(file)


def digest_line_of(file: h5py.File) -> str:
    """Return the `digest_line` of an open file."""
    header = read_tree(file["header"])
    known = "; ".join(f"{name} {header[name]}" for name in BITS_DEPEND_ON if name in header)
    return digest(file, NOT_A_RESULT) + (f"  ({known})" if known else "")


def write_estimate(group: h5py.Group, estimate: Estimate) -> None:
    for part in PARTS:
        group.create_dataset(part, data=getattr(estimate, part))
    if estimate.jackknife is not None:
        group.create_dataset("jackknife", data=estimate.jackknife)
    if estimate.bias is not None:
        group.create_dataset("bias", data=estimate.bias)
    if estimate.gamma is not None:
        write_tree(group.create_group("gamma", track_order=True), vars(estimate.gamma))
    for name in NUMBERS:
        if getattr(estimate, name) is not None:
            group.attrs[name] = float(getattr(estimate, name))
    write_labels(group, estimate)


def write_labels(group: h5py.Group, estimate: Any) -> None:
    """Write axes, unit, convention and note of an `Estimate` or a `Recorded`."""
    for name in ("unit", "convention", "note"):
        group.attrs[name] = getattr(estimate, name)
    write_axes(group, estimate.axes)


def read_texts(group: h5py.Group) -> dict[str, str]:
    return {key: group.attrs[key] for key in ("unit", "convention", "note")}


def read_recorded(name: str, group: h5py.Group) -> Recorded:
    return Recorded(name, group["values"][()], read_axes(group), **read_texts(group))


def read_estimate(name: str, group: h5py.Group) -> Estimate:
    jackknife, bias = (group[part][()] if part in group else None for part in ("jackknife", "bias"))
    numbers = {key: float(group.attrs[key]) for key in NUMBERS if key in group.attrs}
    gamma = GammaErrors(**{key: group["gamma"][key][()] for key in group["gamma"]}) if "gamma" in group else None
    return Estimate(name, group["mean"][()], group["error"][()], jackknife, read_axes(group), **numbers,
                    **read_texts(group), bias=bias, gamma=gamma)
