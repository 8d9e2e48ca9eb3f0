"""Cross sections in the plain-text format of LXCat, as downloaded.

A file has blocks, with any text between them:

    IONIZATION                       the type, see TYPES
    He -> He^+                       the target, or TARGET -> FINAL
    2.458700e+1                      m/M of ELASTIC and EFFECTIVE, the loss in eV of EXCITATION and IONIZATION;
                                     no such line for ATTACHMENT
    COLUMNS: Energy (eV) | Cross section (m2)      among other lines of comment
    -----------------------------
     2.459000e+1	0.000000e+0
     ...
    -----------------------------

Electrons' energies are those at an atom at rest, ions' (ISOTROPIC, BACKSCAT) those in the centre of mass. ELASTIC is
the elastic cross section of momentum transfer, EFFECTIVE the sum of it and of all inelastic ones (lxcat.net, notes on
the format). Superelastic collisions are not included: of TARGET <-> FINAL only the loss is read.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import open_file, reading
from plaq.inputs.schema import one_line

# Kind of the core's process; None: taken from the others.
TYPES = {"ELASTIC": "elastic", "EFFECTIVE": None, "EXCITATION": "excitation", "IONIZATION": "ionisation",
         "ATTACHMENT": "attachment", "ISOTROPIC": "elastic", "BACKSCAT": "backscatter"}
IONS = ("ISOTROPIC", "BACKSCAT")
WITH_LOSS = ("EXCITATION", "IONIZATION")
LARGEST = 1 << 24  # bytes of a file
COLUMNS = re.compile(r"COLUMNS:\s*Energy \(eV\)\s*\|\s*Cross section \(m2\)", re.IGNORECASE)
DASHES = re.compile(r"-{5,}")
TOLERANCE = 1e-6  # of a threshold
NEGATIVE = 0.1  # of EFFECTIVE, that the sum of inelastic ones may exceed it by


@dataclass(frozen=True)
class Process:
    """A block of a file. ``parameter`` is m/M or the loss in eV, None if there is none; energies in eV, areas in m²."""

    type: str
    target: str
    parameter: float | None
    energy: np.ndarray
    cross_section: np.ndarray

    @property
    def loss(self) -> float:
        """Loss of energy in eV."""
        return self.parameter if self.type in WITH_LOSS else 0.0

    def at(self, energy: np.ndarray) -> np.ndarray:
        """Return the cross section at energies, as the core interpolates it."""
        first = 0.0 if self.type in (*WITH_LOSS, "ATTACHMENT") else None
        return np.interp(energy, self.energy, self.cross_section, left=first)


def read_file(path: Path, target: str | None) -> list[Process]:
    """Return the processes of one target of a file. InputError names file and line."""
    with reading(path, "a file of LXCat"), os.fdopen(open_file(path), "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"{path}: a file of LXCat has at most {LARGEST >> 20} MB")
    return of_target(parse(content.decode("utf-8", "replace"), str(path)), target, str(path))


def of_target(processes: list[Process], target: str | None, source: str) -> list[Process]:
    """Return the processes of one target. InputError where a target is missing or not the only one."""
    targets = list(dict.fromkeys(process.target for process in processes))
    if not targets:
        raise InputError(f"{source}: there is no cross section: no line is {', '.join(TYPES)}")
    if target is None and len(targets) > 1:
        raise InputError(f"{source}: there are cross sections of {one_line(', '.join(targets))}: target names one")
    if target is not None and target not in targets:
        raise InputError(f"{source}: no cross sections of {one_line(target)}, but of {one_line(', '.join(targets))}")
    found = [process for process in processes if process.target == (target or targets[0])]
    types = [process.type for process in found]
    if any(kind in IONS for kind in types) and not all(kind in IONS for kind in types):
        raise InputError(f"{source}: cross sections of ions and of electrons: {', '.join(dict.fromkeys(types))}")
    if types.count("ELASTIC") + types.count("EFFECTIVE") > 1:
        raise InputError(f"{source}: of {one_line(found[0].target)} there is one of ELASTIC and EFFECTIVE, not "
                         f"{types.count('ELASTIC')} and {types.count('EFFECTIVE')}")
    return found


def write(processes: list[Process]) -> str:
    """Return the processes as the text of a file, without comments."""
    lines = []
    for process in processes:
        lines += [process.type, process.target]
        lines += [] if process.parameter is None else [repr(process.parameter)]
        lines += ["COLUMNS: Energy (eV) | Cross section (m2)", "-----"]
        lines += [f"{e!r} {s!r}" for e, s in zip(process.energy.tolist(), process.cross_section.tolist())]
        lines += ["-----"]
    return "\n".join(lines) + "\n"


def parse(text: str, source: str) -> list[Process]:
    """Return all blocks of a text."""
    lines, found, number = [line.strip() for line in text.splitlines()], [], 0
    while number < len(lines):
        if lines[number] in TYPES:
            process, number = _block(lines, number, source)
            found.append(process)
        elif DASHES.fullmatch(lines[number]):
            raise _mistake(source, number, f"a table of none of the types {', '.join(TYPES)}")
        else:
            number += 1
    return found


def with_elastic(processes: list[Process], source: str) -> list[Process]:
    """Return the processes with EFFECTIVE replaced by ELASTIC: the inelastic cross sections are taken off.

    InputError where these are more than EFFECTIVE by a tenth of it; it is 0 where they are less more.
    """
    effective = next((process for process in processes if process.type == "EFFECTIVE"), None)
    if effective is None:
        return processes
    others = [process for process in processes if process is not effective]
    energy = np.unique(np.concatenate([process.energy for process in processes]))
    whole = effective.at(energy)
    elastic = whole - sum((process.at(energy) for process in others), np.zeros_like(energy))
    if (low := int(np.argmin(elastic + NEGATIVE * whole))) is not None and elastic[low] < -NEGATIVE * whole[low]:
        raise InputError(f"{source}: at {energy[low]:g} eV the inelastic cross sections of {effective.target} exceed "
                         f"EFFECTIVE, {whole[low]:.3g} m²")
    return [replace(effective, type="ELASTIC", energy=energy, cross_section=np.maximum(elastic, 0.0)), *others]


def _mistake(source: str, number: int, message: str) -> InputError:
    return InputError(f"{source}:{number + 1}: {message}")


def _block(lines: list[str], first: int, source: str) -> tuple[Process, int]:
    """Return the block that begins at a line, and the number of the line after it."""
    kind, number = lines[first], first + 1
    if number >= len(lines) or not lines[number]:
        raise _mistake(source, first, f"{kind}: the next line is the target")
    target, number = re.split(r"\s*<?->\s*", lines[number])[0], number + 1
    parameter, number = _parameter(lines, number, kind, source)
    with_units = False
    while number < len(lines) and not DASHES.fullmatch(lines[number]):
        if lines[number] in TYPES:
            raise _mistake(source, number, f"the table of {kind} of line {first + 1} is missing")
        with_units = with_units or bool(COLUMNS.match(lines[number]))
        number += 1
    if number == len(lines):
        raise _mistake(source, first, f"{kind}: its table, between lines of dashes, is missing")
    if not with_units:
        raise _mistake(source, first, f"{kind}: the units of its table are missing, "
                                      "\"COLUMNS: Energy (eV) | Cross section (m2)\"")
    energy, cross_section, end = _table(lines, number + 1, source)
    process = Process(kind, target, parameter, np.array(energy), np.array(cross_section))
    _check_threshold(process, number + 1, source)
    return process, end


def _parameter(lines: list[str], number: int, kind: str, source: str) -> tuple[float | None, int]:
    """Return the number on the third line of a block and the number of the next line."""
    if kind == "ATTACHMENT":
        return None, number
    words = lines[number].split() if number < len(lines) else []
    try:
        value = float(words[0])
    except (IndexError, ValueError):
        if kind in IONS:
            return None, number
        meaning = "the loss of energy in eV" if kind in WITH_LOSS else "the ratio of masses m/M"
        raise _mistake(source, number, f"{kind}: this line begins with {meaning}") from None
    if kind in IONS:
        return value, number + 1
    if not 0 < value < math.inf:
        raise _mistake(source, number, f"{kind}: {value:g} is not above 0")
    return value, number + 1


def _table(lines: list[str], number: int, source: str) -> tuple[list[float], list[float], int]:
    """Return energies, cross sections, and the number of the line after the table."""
    energy, cross_section = [], []
    for number in range(number, len(lines)):
        if DASHES.fullmatch(lines[number]):
            if len(energy) < 2:
                raise _mistake(source, number, "a table has two lines or more")
            return energy, cross_section, number + 1
        try:
            e, s = (float(word) for word in lines[number].split())
        except ValueError:
            raise _mistake(source, number, f"a gap in the table: {one_line(lines[number]) or 'an empty line'} is not "
                                           "an energy in eV and a cross section in m²") from None
        if not (math.isfinite(e) and math.isfinite(s)):
            raise _mistake(source, number, f"{lines[number]} is not finite")
        if e < 0 or s < 0:
            raise _mistake(source, number, f"{min(e, s):g} is negative")
        if energy and e <= energy[-1]:
            raise _mistake(source, number, f"an energy of {e:g} eV after {energy[-1]:g} eV: energies rise")
        energy.append(e)
        cross_section.append(s)
    raise _mistake(source, len(lines) - 1, "the table does not end with a line of dashes")


def _check_threshold(process: Process, first: int, source: str) -> None:
    """Raise InputError where a process has a cross section below its loss, or a table that ends below it."""
    if not process.loss:
        return
    below = process.energy < process.loss * (1 - TOLERANCE)
    wrong = below & (process.cross_section > 0)
    if wrong.any():
        raise _mistake(source, first + int(np.argmax(wrong)),
                       f"{process.type}: a cross section above 0 at {process.energy[np.argmax(wrong)]:g} eV, "
                       f"below its threshold of {process.loss:g} eV")
    if below.all():
        raise _mistake(source, first, f"{process.type}: the table ends at {process.energy[-1]:g} eV, below its "
                                      f"threshold of {process.loss:g} eV")
