"""An input in normalised units: what the core is asked to do, with formulas that take and give normalised numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.pic.checks import LARGEST, read_formula
from plaq.pic.formula import Formula
from plaq.pic.parameters import Parameters
from plaq.pic.table import DIRECTIONS
from plaq.pic.units import Units

# What is looked at before a run: all steps and cells of one that is not large, of others some, evenly spread, so that
# the operations of the formulas have a bound.
MOST_LOOKED_AT, MOST_OPERATIONS = 1 << 20, 1 << 26
PIECE = 1 << 17  # steps or places at once
FEW_PATCHES = 1 << 12  # that are looked at cell by cell

# Yee's mesh: which coordinates of a component are half a cell behind the node.
HALF = {"ex": (1, 0, 0), "ey": (0, 1, 0), "ez": (0, 0, 1), "bx": (0, 1, 1), "by": (1, 0, 1), "bz": (1, 1, 0)}


@dataclass(frozen=True)
class Profile:
    """A formula of places in normalised units, ``at(places)`` [n, D] -> [n]. ``text`` as in the input."""

    text: str
    at: Callable[[np.ndarray], np.ndarray]
    constant: float | None  # its value where it is the same everywhere


def finite(key: str, formula: Formula, unit: float, **variables: np.ndarray) -> np.ndarray:
    """Values of a formula of the input. InputError names the key and the place where one is no number, or more than
    LARGEST in normalised units."""
    try:
        return formula.bounded(LARGEST / unit, **variables)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


class Setup:
    """Of the parameters p: ``cells``, ``lengths``, ``patches``, ``spacing``, ``dt``, ``steps``, and profiles."""

    def __init__(self, p: Parameters):
        self.p = p
        self.units = Units(p.units.system, p.units.density)
        self.length_unit = self.units.of("length")  # the input's, in c/ω_p
        self.cells, self.patches = p.grid.cells, p.grid.patches
        self.dimension = len(self.cells)
        self.directions = DIRECTIONS[:self.dimension]
        self.lengths = tuple(length * self.length_unit for length in p.grid.length)
        self.spacing = tuple(length / n for length, n in zip(self.lengths, self.cells))
        self.dt = p.time.step * self.units.of("time")
        self.steps = max(1, math.ceil(p.time.end / p.time.step - 1e-9))
        self.cell_volume = math.prod(self.spacing)

    def profile(self, key: str, content: str | float, quantity: str) -> Profile:
        """Of a key of the input, whose values are of that quantity."""
        formula = read_formula(content, self.directions, self.p.constants, key)
        unit = self.units.of(quantity)

        def at(places: np.ndarray) -> np.ndarray:
            return unit * finite(key, formula, unit, **{d: places[:, i] / self.length_unit
                                                        for i, d in enumerate(self.directions)})

        constant = None if formula.uses else float(at(np.zeros((1, self.dimension)))[0])
        return Profile(formula.text, at, constant)

    @cached_property
    def density(self) -> dict[str, Profile]:
        return {name: self.profile(f"species.{name}.density", one.density, "density")
                for name, one in self.p.species.items()}

    @cached_property
    def temperature(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.temperature", part, "temperature") for part in one.temperature]
                for name, one in self.p.species.items()}

    @cached_property
    def drift(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.drift", part, "u") for part in one.drift]
                for name, one in self.p.species.items()}

    @cached_property
    def first_fields(self) -> dict[str, Profile]:
        """ex, … bz at t = 0; without those that are 0 everywhere."""
        found = {f"{kind}{d}": self.profile(f"fields.{kind}", part, kind.upper())
                 for kind in "eb" for d, part in zip(DIRECTIONS, getattr(self.p.fields, kind))}
        return {name: profile for name, profile in found.items() if profile.constant != 0.0}

    @property
    def outside_fields(self) -> dict[str, Profile]:
        """E of an electrostatic run, which comes from outside and stays."""
        electrostatic = self.p.fields.solver == "electrostatic"
        return {name: profile for name, profile in self.first_fields.items() if electrostatic and name[0] == "e"}

    @property
    def evolving_fields(self) -> dict[str, Profile]:
        """The others."""
        return {name: profile for name, profile in self.first_fields.items() if name not in self.outside_fields}

    @cached_property
    def looks(self) -> int:
        """How many steps or cells are looked at before a run, at most."""
        p = self.p
        texts = [*p.fields.e, *p.fields.b, *(part for one in p.species.values()
                                             for part in (one.density, *one.temperature, *one.drift)),
                 *(one.flux for one in p.emission.values()), *(one.envelope for one in p.laser.values()),
                 *(one.where for one in p.conductor.values()), *(one.density for one in p.ionisation.values())]
        operations = sum(10 + len(text) // 2 for text in texts if isinstance(text, str))
        return max(1 << 10, min(MOST_LOOKED_AT, MOST_OPERATIONS // max(1, operations)))

    @property
    def every(self) -> int:
        """The steps from one to the next of those that are looked at before a run."""
        return -(-self.steps // self.looks)

    def flux(self, name: str, every: int = 1) -> np.ndarray:
        """Flux of [emission.NAME] at the beginning of each step, or of every n-th, in n_0 c; one number where it
        is always the same. InputError where it is not finite or below 0."""
        key, unit = f"emission.{name}.flux", self.units.of("flux")
        formula = read_formula(self.p.emission[name].flux, ("t",), self.p.constants, key)

        def sound(times: np.ndarray, found: np.ndarray) -> None:
            if found.min() < 0:
                raise InputError(f"{key}: {formula.text} is below 0 at t = {times[int(np.argmin(found))]:.6g}")

        return np.concatenate(list(self._in_time(key, formula, unit, 0.0, every, sound)))

    def envelope(self, name: str, every: int = 1) -> np.ndarray:
        """Envelope of [laser.NAME] in the middle of each step, or of every n-th, as far as it is not 0."""
        key = f"laser.{name}.envelope"
        formula = read_formula(self.p.laser[name].envelope, ("t",), self.p.constants, key)
        kept, zeros = [np.zeros(0)], 0
        for found in self._in_time(key, formula, 1.0, 0.5, every):
            found = np.broadcast_to(found, -(-self.steps // every)) if not formula.uses else found
            some = np.flatnonzero(found)
            if len(some):
                kept += [np.zeros(zeros), found[: some[-1] + 1]]
                zeros = 0
            zeros += len(found) - (int(some[-1]) + 1 if len(some) else 0)
        return np.concatenate(kept)

    def _in_time(self, key: str, formula: Formula, unit: float, shift: float, every: int,
                 sound: Callable[[np.ndarray, np.ndarray], None] = lambda times, found: None) -> Iterator[np.ndarray]:
        """A formula of t at all steps, or every n-th, piece by piece."""
        count = -(-self.steps // every) if formula.uses else 1
        for first in range(0, count, PIECE):
            steps = np.arange(first, min(first + PIECE, count)) * every
            times = (steps + shift) * self.dt / self.units.of("time")
            found = unit * finite(key, formula, unit, t=times)
            sound(times, found)
            yield found

    def tracked(self, name: str) -> bool:
        """Whether the particles of a species have ids: where they are written."""
        return bool(self.p.output.every) and name in self.p.output.particles

    @cached_property
    def node_counts(self) -> list[int]:
        """Number of nodes in each direction, with those of high sides that are not periodic."""
        return [n + (getattr(self.p.boundaries, d)[0] != "periodic") for n, d in zip(self.cells, self.directions)]

    @property
    def every_node(self) -> int:
        """The nodes from one to the next of those that are looked at before a run."""
        return -(-math.prod(self.node_counts) // self.looks)

    def conductor_nodes(self, name: str, every: int = 1) -> np.ndarray:
        """Numbers of the nodes of [conductor.NAME], x fastest, of all or of every n-th."""
        profile = self.profile(f"conductor.{name}.where", self.p.conductor[name].where, "")
        found, count = [], -(-math.prod(self.node_counts) // every)
        for first in range(0, count, PIECE):
            numbers = np.arange(first, min(first + PIECE, count)) * every
            at = np.unravel_index(numbers, self.node_counts, order="F")
            found.append(numbers[profile.at(np.stack(at, axis=1) * np.array(self.spacing)) != 0])
        nodes = np.concatenate(found)
        if not len(nodes) and every == 1:
            raise InputError(f"conductor.{name}.where: {profile.text} is 0 at every node of the mesh")
        return nodes

    def gas(self, name: str) -> np.ndarray:
        """Density of [ionisation.NAME] in all cells, x fastest; one number where it is the same everywhere."""
        profile = self.gas_profile(name)
        if profile.constant is not None:
            return np.array([profile.constant])
        return profile.at(self.centres([0] * self.dimension, self.cells)).reshape(self.cells).ravel(order="F")

    def gas_profile(self, name: str) -> Profile:
        return self.profile(f"ionisation.{name}.density", self.p.ionisation[name].density, "density")

    def potentials(self, side: int) -> list[float]:
        """Of the low (0) or high (1) sides."""
        return [self.units.of("potential") * getattr(self.p.boundaries, f"potential_{d}")[side]
                for d in self.directions]

    def sides(self, key: str, side: int) -> list[str]:
        """What holds at the low (0) or high (1) sides: boundaries.x and so on, or with the prefix ``particles_``."""
        found = []
        for d in self.directions:
            fields, word = getattr(self.p.boundaries, d)[side], getattr(self.p.boundaries, key + d)[side]
            found.append(("periodic" if fields == "periodic" else "absorbed") if word == "auto" else word)
        return found

    @cached_property
    def starts(self) -> list[np.ndarray]:
        """First cells of the patches in each direction, and the end: sizes differ by one cell at most."""
        return [np.arange(parts + 1) * n // parts for n, parts in zip(self.cells, self.patches)]

    def centres(self, first: Any, extent: Any) -> np.ndarray:
        """Of the cells of a box: [cells, D], the last direction fastest."""
        axes = [(np.arange(a, a + n) + 0.5) * h for a, n, h in zip(first, extent, self.spacing)]
        return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)

    def first_field(self, name: str, first: Any, extent: Any) -> np.ndarray:
        """ex, … bz at t = 0 at its Yee points in a box of cells, [x, y, z]."""
        return self.first_fields[name].at(self.yee_points(name, self.centres(first, extent))).reshape(extent)

    def yee_points(self, name: str, centres: np.ndarray) -> np.ndarray:
        """Points of ex, … bz in the cells with these centres."""
        shift = np.array(HALF[name][:self.dimension]) - 1  # in half cells
        return centres + 0.5 * shift * np.array(self.spacing)

    def outside_field(self, name: str, first: Any, extent: Any, guard: int) -> np.ndarray:
        """ex, ey or ez that an electrostatic run has from outside, in a box of cells with guards, [x, y, z]:
        around periodic sides, mirrored behind others."""
        first, extent = [n - guard for n in first], [n + 2 * guard for n in extent]
        places = self.yee_points(name, self.centres(first, extent))
        for d, (length, side) in enumerate(zip(self.lengths, self.sides("", 0))):
            x = places[:, d]
            places[:, d] = np.mod(x, length) if side == "periodic" else length - np.abs(length - np.abs(x))
        return self.first_fields[name].at(places).reshape(extent)

    def places(self) -> Iterator[np.ndarray]:
        """Centres of all cells of a box that is not large, or of some evenly spread, [n, D] at a time."""
        counts = list(self.cells)
        while math.prod(counts) > self.looks:
            counts[int(np.argmax(counts))] //= 2
        numbers = [(np.arange(k) * n + n // 2) // k for k, n in zip(counts, self.cells)]
        for first in range(0, math.prod(counts), PIECE):
            at = np.unravel_index(np.arange(first, min(first + PIECE, math.prod(counts))), counts, order="F")
            yield np.stack([(some[i] + 0.5) * h for some, i, h in zip(numbers, at, self.spacing)], axis=1)

    def places_in_patches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Patches, numbers [m], x fastest, and centres of their cells, [m, n, D]: of all cells, or of so many that
        all patches together have no more than `looks`; of very many patches every n-th."""
        count, least = math.prod(self.patches), [int(np.diff(starts).min()) for starts in self.starts]
        if math.prod(self.cells) <= self.looks and count <= FEW_PATCHES:
            for number, (first, extent) in enumerate(self.patch_boxes()):
                yield np.array([number]), self.centres(first, extent)[None]
            return
        while math.prod(least) > max(1, self.looks // count):
            least[int(np.argmax(least))] //= 2
        numbers = [starts[:-1, None] + ((np.arange(k) + 0.5) * np.diff(starts)[:, None] / k).astype(np.int64)
                   for k, starts in zip(least, self.starts)]  # of each direction: [patch, cell]
        taken = np.arange(0, count, -(-count // self.looks))
        for piece in np.array_split(taken, -(-len(taken) * math.prod(least) // PIECE)):
            at = np.unravel_index(piece, self.patches, order="F")
            places = np.zeros((len(piece), *least, self.dimension))
            for d, (i, h) in enumerate(zip(at, self.spacing)):
                shape = [len(piece), *(k if e == d else 1 for e, k in enumerate(least))]
                places[..., d] = ((numbers[d][i] + 0.5) * h).reshape(shape)
            yield piece, places.reshape(len(piece), -1, self.dimension)

    def patch_boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(first cell, cells) of all patches, x fastest."""
        boxes = []
        for at in np.ndindex(*self.patches[::-1]):
            at = at[::-1]
            first = tuple(int(self.starts[d][i]) for d, i in enumerate(at))
            end = tuple(int(self.starts[d][i + 1]) for d, i in enumerate(at))
            boxes.append((first, tuple(b - a for a, b in zip(first, end))))
        return boxes
