"""Sweeps from Python: every combination of some values is a run, and all results come back by name."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar

from plaq.comm import world
from plaq.data.formatting import format_duration
from plaq.errors import InterruptedByUser, RunError
from plaq.inputs.parameters import Parameters, plain
from plaq.inputs.schema import to_toml
from plaq.run import sweep as sweeps
from plaq.run import table
from plaq.run.application import Application
from plaq.run.folder import INPUT
from plaq.trace.session import Recording

R = TypeVar("R")


class Sweep(Mapping[str, R], Generic[R]):
    """Results of the runs of a sweep by name, ``sweep["U=4.0"]``.

    ``parameters`` are those of each run, ``keys`` the swept ones, ``outcomes`` has status and answer of each run, with
    the error of one that failed. ``folder`` is None for a sweep in memory.
    """

    def __init__(self, kind: type[Application], keys: Iterable[str], parameters: Mapping[str, Parameters],
                 outcomes: Mapping[str, Mapping[str, Any]], results: Mapping[str, R], folder: Path | None = None):
        self._kind, self._results = kind, results
        self.keys_swept, self.parameters, self.outcomes, self.folder = list(keys), parameters, outcomes, folder

    def __getitem__(self, name: str) -> R:
        if name in self._results:
            return self._results[name]
        if name in self.outcomes:
            raise RunError(f"{name}: {self.outcomes[name]['error_text']}")
        raise KeyError(f"{name}: there are {', '.join(self.parameters)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def failed(self) -> dict[str, str]:
        """Errors of the runs that failed, by name."""
        return {name: outcome["error_text"] for name, outcome in self.outcomes.items() if outcome["status"] == "failed"}

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of scalars: name of the run, values of the swept keys, then every number with its error."""
        return [{"run": name, **self._swept(name), **row}
                for name, results in self.items() for row in self._kind.scalars(results)]

    def _swept(self, name: str) -> dict[str, Any]:
        parameters = self.parameters[name]
        values = parameters.SCHEMA.by_key(parameters.values())
        return {key: values[key] for key in self.keys_swept}

    def to_dataframe(self) -> Any:
        """Return `rows` as a pandas.DataFrame. RunError without pandas."""
        from plaq.data.tables import dataframe

        return dataframe(self.rows())

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"Sweep({self._kind.name}: {len(self)} runs over {', '.join(self.keys_swept)}{failed})"

    def __str__(self) -> str:
        return "\n".join(sweeps.in_words(name, outcome) for name, outcome in self.outcomes.items())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in (*self.keys_swept, "result", "time"))
        rows = []
        for name, outcome in self.outcomes.items():
            cells = [*map(to_toml, self._swept(name).values()), outcome.get("in_words") or outcome["error_text"],
                     format_duration(outcome["seconds"]) if "seconds" in outcome else ""]
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def load(kind: type[Application], folder: Path) -> Sweep:
    """Return the sweep in a folder, as its table lists it."""
    keys, rows = table.read(folder)
    parameters, outcomes, results = {}, {}, {}
    for row in rows:
        name = row["run"]
        parameters[name] = kind.Parameters.read(folder / name / INPUT)
        if row[table.STATUS] in ("failed", "damaged"):
            outcomes[name] = {"status": "failed", "error_text": row.get("error_text") or row[table.STATUS]}
        else:
            results[name] = kind.load(folder / name)
            outcomes[name] = kind.outcome(results[name]) | {"seconds": sum(results[name].seconds.values())}
    return Sweep(kind, [key for key in keys if "." in key], parameters, outcomes, results, folder)


def sweep(kind: type[Application], parameters: Any, axes: Mapping[str, Iterable[Any]], folder: str | Path | None = None,
          *, start: str | Path | None = None, trace: bool | Recording = False, progress: Any = None) -> Sweep:
    """Run every combination of the values of ``axes`` on the ranks of the world; arguments as of `Face.sweep`.

    A run that fails leaves the others alone and gives a warning. RunError if all fail.
    """
    base, other, comm = folder and Path(folder), start and Path(start), world()
    if folder is not None:
        parameters = parameters.replace(run={"folder": str(folder)})
    lists = {key: list(plain(values)) if isinstance(values, Iterable) and not isinstance(values, str) else values
             for key, values in axes.items()}
    runs = sweeps.combine(kind, parameters.explicit, lists, "Parameters", "sweep")
    try:
        outcomes, results = sweeps.carry_out(kind, runs, base, "Parameters", comm, trace, other, progress)
    except InterruptedByUser as stopped:
        raise KeyboardInterrupt(stopped.reason) from None
    found = Sweep(kind, lists, runs, {name: outcomes[name] for name in runs},
                  {name: results[name] for name in runs if name in results}, base)
    if found.failed:
        text = f"{len(found.failed)} of {len(runs)} runs failed: {found.failed}"
        if not found:
            raise RunError(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    return found
