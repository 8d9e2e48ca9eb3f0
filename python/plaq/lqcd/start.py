"""Start of a chain from a stored configuration, which may be the last one of another run."""

from __future__ import annotations

from pathlib import Path

from plaq.errors import InputError
from plaq.lqcd.files.find import check_files
from plaq.lqcd.files.gauge_files import check_extents
from plaq.lqcd.files.gauge_formats import head_of
from plaq.lqcd.parameters import STARTS, Parameters
from plaq.run.folder import CHECKPOINT, INPUT, need_program


def find_start(p: Parameters, folder: Path | None, other: Path | None) -> Parameters:
    """Return the input with the file in updates.start that the run in ``folder`` starts from (None: no folder).

    With ``other``, the folder of another run, this is its last configuration. A run that has begun has its own fields,
    and needs neither the file nor ``other`` again. InputError where the file is missing or of no known format, and
    where its chain had the seed of this one, since all random numbers would come again.
    """
    begun = Parameters.read(folder / INPUT) if folder and (folder / INPUT).is_file() else None
    if other is not None:
        if p.measure.configurations:
            raise InputError(f"--from {other}: stored configurations are measured, and no chain starts")
        if p.updates.start not in STARTS and begun is None:
            raise InputError(f"--from {other}: updates.start = \"{p.updates.start}\" names another start")
        p = p.replace(updates={"start": str(last_configuration(other))})
    elif begun is not None and "start" not in p.explicit.get("updates", {}):
        p = p.replace(updates={"start": begun.updates.start})
    if p.measure.configurations:
        check_files(p.measure.configurations, p.lattice.extents)
    if p.updates.start in STARTS or p.measure.configurations or folder and (folder / CHECKPOINT).exists():
        return p
    path = Path(p.updates.start)
    if not path.exists():
        raise InputError(f'updates.start = "{path}": there is no such file; allowed are "hot", "cold" and the file of '
                         "a configuration")
    check_extents(path, p.lattice.extents, head_of(path).extents or p.lattice.extents)
    source = path.parent / INPUT
    if source.is_file() and Parameters.read(source).updates.seed == p.updates.seed:
        raise InputError(f"updates.seed = {p.updates.seed}: it is the seed of the chain that made {path}, whose random "
                         "numbers would come again; take another one")
    return p


def last_configuration(run: Path) -> Path:
    """Return the last configuration that a run wrote; InputError where there is none."""
    need_program(run, "plaq lqcd")
    found = sorted(run.glob("conf.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    if not found:
        raise InputError(f"--from {run}: it has no configuration conf.NNNNNN")
    return found[-1]
