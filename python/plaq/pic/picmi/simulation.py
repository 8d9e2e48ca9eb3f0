"""A PICMI simulation as a run of plaq."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import picmistandard

from plaq.errors import InputError
from plaq.pic.inputs.checks import courant_limit
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.units import SPEED_OF_LIGHT
from plaq.pic.picmi.given import TURNED, Box, name_of, only, refuse
from plaq.pic.picmi.lasers import laser_section
from plaq.pic.picmi.species import species_section

FIELDS = {"periodic": "periodic", "open": "absorbing", "dirichlet": "conducting"}
PARTICLES = {"periodic": "periodic", "absorbing": "absorbed", "reflect": "reflected", "thermal": "thermal"}
WRITTEN = {"position", "momentum", "weighting", "id", "x", "y", "z", "ux", "uy", "uz"}  # of particles
BELOW = 1 - 1e-9  # of the Courant limit, which decks may have as cfl = 1 and plaq has not
ORDERS = {"linear": 1, "quadratic": 2, "cubic": 3, 1: 1, 2: 2, 3: 3}
STENCILS = {None: "yee", "Yee": "yee", "CKC": "cowan", "Lehe": "lehe"}
GRID = ("number_of_cells", "lower_bound", "upper_bound", "lower_boundary_conditions", "upper_boundary_conditions",
        "lower_boundary_conditions_particles", "upper_boundary_conditions_particles", "moving_window_velocity",
        "pml_cells")


class Simulation(picmistandard.PICMI_Simulation):
    """Arguments of plaq: ``plaq_folder`` of the run, ``plaq_density`` n_0 in 1/m³, the reference of normalised results.

    ``step(n)`` goes on by n steps, or to ``max_steps`` or ``max_time``; the folder then has the results, which
    `plaq.pic.load` reads.
    """

    plaq_folder: str = "picmi"
    plaq_density: float = 1e24

    def parameters(self, steps: int | None = None) -> Parameters:
        """Return plaq's parameters, of a run of so many steps. InputError names what plaq has not."""
        only(self, ("solver", "time_step_size", "max_steps", "max_time", "verbose", "particle_shape", "species",
                    "layouts", "initialize_self_fields", "injection_plane_positions", "injection_plane_normal_vectors",
                    "lasers", "laser_injection_methods", "applied_fields", "diagnostics", "interactions",
                    "plaq_folder", "plaq_density"))
        if self.solver is None:
            raise InputError("picmi.Simulation(solver=None): a field solver is needed")
        if self.particle_shape not in ORDERS:
            raise refuse(self, "particle_shape", "linear, quadratic or cubic")
        for part in self.interactions:
            raise InputError(f"picmi.{name_of(part)}: plaq has no such class")
        box, sections = _grid_sections(self.solver.grid)
        sections |= {"units": {"system": "SI", "density": self.plaq_density},
                     "solver": {"order": ORDERS[self.particle_shape]}, "run": {"folder": self.plaq_folder},
                     "fields": _solver_section(self.solver), "species": {}, "laser": {}}
        folder = Path(self.plaq_folder)
        for n, (species, layout) in enumerate(zip(self.species, self.layouts)):
            if self.injection_plane_positions[n] is not None:
                raise InputError("picmi.Simulation.add_species_through_plane: plaq has no such method")
            if self.initialize_self_fields[n] and sections["fields"]["solver"] == "electromagnetic":
                sections["fields"]["of_charges"] = True
            sections["species"] |= species_section(species, layout, box, sections["grid"], self.plaq_density, folder)
        for laser, injection in zip(self.lasers, self.laser_injection_methods):
            sections["laser"] |= {laser.name or f"laser{len(sections['laser']) + 1}":
                                  laser_section(laser, injection, box)}
        sections["external"] = _external_section(self.applied_fields, box)
        sections["output"] = _output_section(self.diagnostics, [*sections["species"]])
        sections["time"] = {"step": self._step(sections), "end": 1.0}
        count = steps if steps is not None else self._count(sections["time"]["step"])
        sections["time"]["end"] = count * sections["time"]["step"]
        return Parameters("picmi", **sections)

    def _step(self, sections: dict[str, Any]) -> float:
        """Return the time step in s."""
        if self.time_step_size is not None:
            return self.time_step_size
        cfl = getattr(self.solver, "cfl", None)
        if cfl is None:
            raise InputError("picmi.Simulation: neither time_step_size nor the solver's cfl is set")
        values = Parameters.SCHEMA.read({**sections, "time": {"end": 1.0}}, "picmi")
        return min(cfl, BELOW) * courant_limit(values)

    def _count(self, step: float) -> int:
        if (self.max_steps is None) == (self.max_time is None):
            raise InputError("picmi.Simulation: one of max_steps and max_time is needed, or step(n)")
        return self.max_steps if self.max_steps is not None else math.ceil(self.max_time / step - 1e-9)

    _done: int = 0

    def step(self, nsteps: int | None = None) -> Any:
        """Advance by so many steps, or to the end; return the results so far."""
        from plaq.pic.commands import run

        parameters = self.parameters(None if nsteps is None else self._done + nsteps)
        self._done = round(parameters.time.end / parameters.time.step)
        return run(parameters, parameters.run.folder)

    def write_input_file(self, file_name: str = "input.toml") -> None:
        """Write plaq's input."""
        Path(file_name).write_text(self.parameters().to_toml(), encoding="utf-8")


def _grid_sections(grid: Any) -> tuple[Box, dict[str, Any]]:
    """Return the axes, and the sections grid, boundaries and window."""
    if name_of(grid) not in ("Cartesian1DGrid", "Cartesian2DGrid", "Cartesian3DGrid"):
        raise InputError(f"picmi.{name_of(grid)}: plaq has no such class")
    singles = [name for group in type(grid)._axis_groups for name in group.per_axis]
    only(grid, (*GRID, *singles))
    for argument in ("lower_bound_particles", "upper_bound_particles"):
        if getattr(grid, argument) not in (None, getattr(grid, argument.removesuffix("_particles"))):
            raise refuse(grid, argument, "particles have the sides of the fields")
    box = Box(grid.number_of_dimensions, grid.lower_bound)
    lengths = [high - low for low, high in zip(grid.lower_bound, grid.upper_bound)]
    boundaries: dict[str, Any] = {}
    for i, axis in enumerate(box.axes):
        own = TURNED[axis]
        for key, suffix, known in ((own, "", FIELDS), (f"particles_{own}", "_particles", PARTICLES)):
            words = [getattr(grid, f"{side}_boundary_conditions{suffix}") for side in ("lower", "upper")]
            if suffix and any(word is None or word[i] is None or word[i] in ("open", "dirichlet") for word in words):
                continue
            for side, word in zip(("lower", "upper"), words):
                if word[i] not in known:
                    raise refuse(grid, f"{side}_boundary_conditions{suffix}", f"plaq has {', '.join(known)}")
            boundaries[key] = [known[word[i]] for word in words]
    if grid.pml_cells is not None:
        if len(set(grid.pml_cells)) > 1:
            raise refuse(grid, "pml_cells", "plaq has one number for all sides")
        boundaries["layer"] = grid.pml_cells[0]
    sections = {"grid": {"cells": box.ordered(grid.number_of_cells), "length": box.ordered(lengths)},
                "boundaries": boundaries}
    if grid.moving_window_velocity is not None and any(grid.moving_window_velocity):
        speed, *others = box.ordered(grid.moving_window_velocity)
        if any(others) or speed < 0:
            raise refuse(grid, "moving_window_velocity", "plaq's window moves to higher z")
        sections["window"] = {"speed": speed / SPEED_OF_LIGHT}
    return box, sections


def _solver_section(solver: Any) -> dict[str, Any]:
    if name_of(solver) == "ElectrostaticSolver":
        only(solver, ("grid", "method", "required_precision", "maximum_iterations"))
        return {"solver": "electrostatic"}
    if name_of(solver) != "ElectromagneticSolver":
        raise InputError(f"picmi.{name_of(solver)}: plaq has no such class")
    only(solver, ("grid", "method", "cfl", "source_smoother"))
    if solver.method not in STENCILS:
        raise refuse(solver, "method", "plaq has Yee, CKC, Lehe")
    section: dict[str, Any] = {"solver": "electromagnetic", "stencil": STENCILS[solver.method]}
    if (smoother := solver.source_smoother) is not None:
        only(smoother, ("n_pass", "compensation"))
        for argument in ("n_pass", "compensation"):
            if len(set(getattr(smoother, argument) or [0])) > 1:
                raise refuse(smoother, argument, "plaq has one value for all axes")
        section |= {"filter_passes": (smoother.n_pass or [1])[0],
                    "filter_compensation": bool((smoother.compensation or [False])[0])}
    return section


def _external_section(parts: list[Any], box: Box) -> dict[str, Any]:
    """Return [external]: the sum of all applied fields."""
    from plaq.pic.picmi.given import turned, with_constants

    sums: dict[str, list[list[str]]] = {kind: [[], [], []] for kind in "EB"}
    for part in parts:
        if (constant := name_of(part) == "ConstantAppliedField") is False and name_of(part) != "AnalyticAppliedField":
            raise InputError(f"picmi.{name_of(part)}: plaq has no such class")
        names = [f"{kind}{d}" + ("" if constant else "_expression") for kind in "EB" for d in "xyz"]
        only(part, (*names, "lower_bound", "upper_bound", "user_defined_kw"))
        for kind in "EB":
            values = [getattr(part, name) for name in names if name[0] == kind]
            for i, value in enumerate(turned(values)):
                if value is not None:
                    text = repr(value) if constant else with_constants(part, str(value))
                    sums[kind][i].append(f"({box.within(part, text)})")
    return {kind.lower(): [" + ".join(terms) or 0.0 for terms in components] for kind, components in sums.items()}


def _output_section(parts: list[Any], species: list[str]) -> dict[str, Any]:
    """Return [output]: fields and particles have one period."""
    section: dict[str, Any] = {"pictures": 4}
    for part in parts:
        kind = name_of(part)
        if kind not in ("FieldDiagnostic", "ElectrostaticFieldDiagnostic", "ParticleDiagnostic"):
            raise InputError(f"picmi.{kind}: plaq has no such class")
        only(part, ("grid", "period", "species", "name", "write_dir", "data_list"))
        if section.setdefault("every", part.period) != part.period:
            raise refuse(part, "period", f"all diagnostics have one, {section['every']}")
        if kind == "ParticleDiagnostic":
            chosen = part.species if isinstance(part.species, list) else [part.species]
            section["particles"] = species if part.species is None else [own.name or own.particle_type
                                                                         for own in chosen]
            if set(part.data_list or ()) - WRITTEN:
                raise refuse(part, "data_list", f"plaq writes {', '.join(sorted(WRITTEN))}, all of them")
            continue
        fields: list[str] = []
        for quantity in part.data_list or ("E", "B", "J", "rho"):
            letter = quantity[:1].lower()
            if quantity in ("rho", "phi"):
                fields.append(quantity)
            elif quantity in ("E", "B", "J"):
                fields += [f"{letter}{d}" for d in "xyz"]
            elif letter in "ebj" and quantity[1:] in TURNED:
                fields.append(f"{letter}{TURNED[quantity[1:]]}")
            else:
                raise refuse(part, "data_list", "plaq has E, B, J, their components, rho, phi")
        section["fields"] = list(dict.fromkeys([*section.get("fields", ()), *fields]))
    return section
