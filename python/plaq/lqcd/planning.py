"""Estimates of the count, memory and time of a run: ``plaq check`` and ``plaq lqcd estimate``."""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass
from typing import Any

from plaq import _core
from plaq.data.formatting import format_duration, format_size
from plaq.lqcd import sea
from plaq.lqcd.choices import rectangle_coefficient
from plaq.lqcd.files.find import find_files
from plaq.lqcd.integrators import forces, moves
from plaq.lqcd.measurements.scales import flow_times
from plaq.lqcd.parameters import Parameters
from plaq.machine import memory as machine_memory
from plaq.run.forecast import Forecast

# Microseconds of one core, 8^4 sites on the machine of benchmarks/lqcd.md, for each link or site.
LINK_UPDATE = {False: 1.2, True: 10.0}  # heat bath or over-relaxation, without and with rectangles
LINK_FORCE = {False: 0.6, True: 4.0}
LINK_MOVE = 0.3
SITE_NORMAL = {False: 0.13, True: 0.17}  # a step of conjugate gradient, without and with clover term
SITE_FLOW = 9.0  # a step of the flow, with energy and charge
SITE_SHIFT = 0.07  # a field of matrices moved by one site, or a product of two
SITE_APE, SITE_GAUSS = 4.0, 0.35  # a step of smearing links, or a spinor
SITE_MESON, SITE_BARYON = 3.0, 15.0  # a contraction of two or three propagators, for each momentum
# Multigrid with aggregates of 4^4 sites: setup, improving it, taking it to other links, a cycle, and cycles of a solve.
SITE_SETUP, SITE_IMPROVE, SITE_RENEW, SITE_CYCLE, CYCLES = 98.0, 17.0, 9.0, 0.6, 25
STEPS = 100  # assumed for a solve
# Overlap: a step of conjugate gradient in a sign function, without poles and for each, and poles for an error.
SITE_SQUARE, SITE_POLE, POLES_OF_DIGIT = 0.2, 0.03, 1.0
SIGN_STEPS, OVERLAP_STEPS = 60, 30  # of a sign function, and of a solve with it
CERTAIN = 3.0  # a run that needs this multiple of the memory is refused
# Bytes of a site. NEAR: links of a hopping matrix; MULTIGRID: test vectors, directions of GCR; COARSE: coarse matrix.
LINKS, NEAR, MATRIX, SPINOR, BLOCKS, MULTIGRID, COARSE = 576, 768, 144, 192, 1152, 7000, 74_000


@dataclass(frozen=True)
class ForceCount:
    """Number of forces of a time scale in one trajectory."""

    term: str
    kicks: int
    flavours: int = 1  # that a spinor of it has


def time_scales(p: Parameters) -> tuple[list[ForceCount], int]:
    """Return the forces of a trajectory, those of the coarsest scale first, and the number of moves of links in it."""
    calls, counts = 1, []
    for scale in sea.scales_of(p.quarks, p.hmc):
        kicks = calls * forces(scale.integrator, scale.steps)
        for term in scale.terms:
            q = p.quarks.get(term.partition(".")[0])
            counts.append(ForceCount(term, kicks, 2 if q and sea.is_doublet(q) else 1))
        calls *= moves(scale.integrator, scale.steps)
    return counts, calls


def memory(p: Parameters, sites: int) -> int:
    """Return the largest number of bytes of all fields on ``sites`` sites, without the interpreter's own."""
    valence = quark_tables(p)
    clover = any(q.csw for q in (*p.quarks.values(), *valence, *p.walls.values()))
    needs = 2 * LINKS + 10 * MATRIX  # two fields of links, and workspace of staples
    if p.updates.algorithm == "hmc":
        needs += 2 * LINKS
    if p.quarks or valence or p.overlap or p.walls:
        needs += 3 * NEAR // 2 + 10 * SPINOR + clover * 5 * BLOCKS // 2
    needs += max((_spinors_of(q) for q in p.quarks.values()), default=0) * SPINOR // 2
    needs += max((multigrid_memory(q) for q in p.quarks.values()), default=0)
    needs += max((lines_kept(q) * SPINOR + multigrid_memory(q) for q in valence), default=0)
    needs += max((overlap_spinors(table) for table in p.overlap.values()), default=0) * SPINOR
    if p.flow:
        needs = max(needs, 5 * LINKS + 20 * MATRIX)
    return round(needs) * sites


def _spinors_of(q: Any) -> int:
    """Return the number of spinors on odd sites that the solves of quarks keep."""
    if sea.is_pair(q):
        return 2 * q.history
    return (2 * max(sea.parts_of(q)) + 4) * (2 if sea.is_doublet(q) else 1)


def seconds(p: Parameters) -> dict[str, float]:
    """Return seconds of one core by part of the run, if a solve takes `STEPS` steps."""
    sites = math.prod(p.lattice.extents)
    rectangles = rectangle_coefficient(p.action.gauge) != 0
    number = configurations(p)
    sweeps = 0 if p.measure.configurations else p.updates.thermalisation + (number - 1) * p.updates.sweeps
    if p.updates.algorithm == "hmc":
        scales, link_moves = time_scales(p)
        gauge = next(count for count in scales if count.term == sea.GAUGE)
        sweep = 4 * (LINK_FORCE[rectangles] * gauge.kicks + LINK_MOVE * link_moves)
        sweep += sum(forces_cost(p, count) for count in scales if count is not gauge)
    else:
        sweep = 4 * LINK_UPDATE[rectangles] * (1 + p.updates.over_relaxations)
    each = {"updates": sweep * sweeps,
            "loops": sum(loops_cost(table) * (number // table.every) for table in p.loops.values()),
            **{family: sum(cost(table) * (number // table.every) for table in getattr(p, family).values())
               for family, cost in (("mesons", mesons_cost), ("baryons", baryons_cost), ("charges", charges_cost),
                                    ("form_factors", form_factors_cost), ("disconnected", disconnected_cost),
                                    ("overlap", overlap_cost), ("walls", walls_cost))},
            "reweighting": sum(table.sources * STEPS * SITE_NORMAL[True] * (number // table.every)
                               for table in p.reweighting.values()),
            "flow": sum(flow_cost(table) * (number // table.every) for table in p.flow.values())}
    return {part: 1e-6 * sites * value for part, value in each.items() if value}


def forces_cost(p: Parameters, count: ForceCount) -> float:
    """Return microseconds of a site for the forces of quarks in a trajectory, and three more solves at its ends."""
    name, _, part = count.term.partition(".")
    q, solves = p.quarks[name], count.kicks + 3
    if q.solver != "multigrid" or part not in ("", "1"):  # heavier terms take conjugate gradient
        return SITE_NORMAL[any(q.csw for q in p.quarks.values())] * STEPS * count.flavours * solves
    return (SITE_IMPROVE + SITE_RENEW * count.kicks + 2 * CYCLES * SITE_CYCLE * solves) * coarse_levels(q)


def densities(table: Any) -> list[float]:
    """Return aggregates per site on each coarse level of a table with multigrid."""
    sizes = [math.prod(box) for box in table.aggregates or ((4, 4, 4, 4),)]
    return [1 / size for size in itertools.accumulate(sizes, operator.mul)]


def coarse_levels(table: Any) -> float:
    """Return the factor by which a table's multigrid takes longer than one with aggregates of 4^4 sites."""
    finest, *coarser = densities(table)
    return (1 + 16 * finest) * 1.3**len(coarser)


def multigrid_memory(table: Any) -> float:
    """Return bytes of a site for the multigrid of a table, zero without."""
    return MULTIGRID + COARSE * sum(densities(table)) if table.solver == "multigrid" else 0


def flow_cost(table: Any) -> float:
    """Return microseconds of a site for a table [flow.NAME]: three stages a step, with rectangles or without."""
    rectangles = 0.0 if table.kind == "wilson" else 12 * (LINK_FORCE[True] - LINK_FORCE[False])
    return len(flow_times(table)) * (SITE_FLOW + rectangles)


def loops_cost(table: Any) -> float:
    """Return microseconds of a site for a table [loops.NAME] on a configuration."""
    r, t = table.space, table.time
    # Sides that are moved, products, and rectangles.
    return SITE_SHIFT * (3 * r * t * (r + t + 12) / 2 + 250) + SITE_APE * table.ape_steps


def quark_tables(p: Parameters) -> list[Any]:
    """Return all tables of the input that solve for quarks."""
    families = (p.mesons, p.baryons, p.charges, p.form_factors, p.disconnected)
    return [table for family in families for table in family.values()]


def sources(table: Any) -> int:
    """Return the number of sources of a table on a configuration."""
    return table.sources if isinstance(table.sources, int) else len(table.sources)


def columns(table: Any) -> int:
    """Return the number of solves for a source and a quark of a table."""
    if hasattr(table, "dilution") and getattr(table, "source", "noise") == "noise":
        return (4 if "spin" in table.dilution else 1) * (3 if "colour" in table.dilution else 1)
    return 12


def lines_kept(table: Any) -> int:
    """Return the number of spinors in memory for a table: lines and copies for the contraction."""
    return 3 * columns(table) * (len(flavours_of_table(table)) if hasattr(table, "kappa_d") else 1)


def flavours_of_table(table: Any) -> set[tuple[float, float]]:
    """Return (kappa, mu) of the quarks of a table of baryons, each once."""
    u = table.kappa, table.mu
    d = table.kappa if table.kappa_d is None else table.kappa_d, -table.mu if table.mu_d is None else table.mu_d
    return {u, d} | ({(table.kappa_s, table.mu_s)} if table.kappa_s is not None else set())


def solves_cost(table: Any, solves: int, operators: int = 1) -> float:
    """Return microseconds of a site for solves with smearing of a table."""
    solve = STEPS * SITE_NORMAL[table.csw != 0]
    if table.solver == "multigrid":
        solve = (CYCLES * SITE_CYCLE + SITE_SETUP * operators / solves) * coarse_levels(table)
    smearing = getattr(table, "gauss_source", 0) + getattr(table, "gauss_sink", 0)
    return solves * (solve + SITE_GAUSS * smearing) + (SITE_APE * table.ape_steps if smearing else 0)


def has_second_quark(table: Any) -> bool:
    """Return whether the antiquark of a table of mesons has a propagator of its own."""
    return (table.kappa_2 not in (None, table.kappa)) or (table.mu_2 not in (None, table.mu))


def mesons_cost(table: Any) -> float:
    """Return microseconds of a site for a table [mesons.NAME] on a configuration."""
    second = has_second_quark(table)
    lines = 1 + second if table.source == "point" else len(table.momenta) + (second or len(table.momenta) > 1)
    return sources(table) * (solves_cost(table, columns(table) * lines, 1 + second)
                             + SITE_MESON * (len(table.momenta) + 3))


def baryons_cost(table: Any) -> float:
    """Return microseconds of a site for a table [baryons.NAME] on a configuration."""
    quarks = len(flavours_of_table(table))
    return sources(table) * (solves_cost(table, 12 * quarks, quarks) + SITE_BARYON * (1 + len(table.momenta)))


def charges_cost(table: Any) -> float:
    """Return microseconds of a site for a table [charges.NAME] on a configuration."""
    quarks = len(flavours_of_table(table))
    sequential = 2 * 2 * len(table.sink_times)  # flavours and polarisations
    return sources(table) * (solves_cost(table, 12 * (quarks + sequential), quarks) + SITE_BARYON)


def form_factors_cost(table: Any) -> float:
    """Return microseconds of a site for a table [form_factors.NAME] on a configuration."""
    quarks, momenta = 1 + has_second_quark(table), len(table.momenta)
    return sources(table) * (solves_cost(table, 12 * (quarks + len(table.sink_times)), quarks)
                             + SITE_MESON * momenta * (1 + 3 * len(table.sink_times)))


def disconnected_cost(table: Any) -> float:
    """Return microseconds of a site for a table [disconnected.NAME] on a configuration."""
    solves = table.vectors * columns(table) * table.time_dilution * 2**table.probing
    return solves_cost(table, solves) + solves * SITE_MESON


def walls_cost(table: Any) -> float:
    """Return microseconds of a site for a table [walls.NAME] on a configuration."""
    return 12 * STEPS * SITE_NORMAL[table.csw != 0]


def poles(table: Any) -> float:
    """Return about the number of poles of the sign function of a table [overlap.NAME]."""
    return 2 - POLES_OF_DIGIT * math.log10(table.error)


def overlap_spinors(table: Any) -> float:
    """Return the number of spinors in memory for a table [overlap.NAME]: eigenvectors, solutions and propagators."""
    return (3 * table.low_modes + 6 * table.eigenvalues + 50 + 3 * poles(table) + 2 * len(table.masses)
            + 24 * len(table.masses))


def overlap_cost(table: Any) -> float:
    """Return microseconds of a site for a table [overlap.NAME] on a configuration."""
    sign = SIGN_STEPS * (SITE_SQUARE + SITE_POLE * poles(table))
    solves = 12 * sources(table) * (OVERLAP_STEPS + 2 * len(table.masses)) if table.masses else 0
    eigenvectors = 20 * SITE_SQUARE * (200 + 30 * table.low_modes)  # of a polynomial of degree 20
    small = 2 * (150 + 20 * table.eigenvalues) if table.eigenvalues else 0
    return sign * (solves + small + 2) + eigenvectors


def configurations(p: Parameters) -> int:
    """Return the number of configurations that are measured. InputError where stored ones are not found."""
    return len(find_files(p.measure.configurations)) if p.measure.configurations else p.updates.configurations


def describe(p: Parameters, ranks: int) -> str:
    """Return the text that ``plaq check`` prints; its estimate is for ranks with one worker."""
    extents = " x ".join(map(str, p.lattice.extents))
    lattice = f"lattice:     {extents} (t, x, y, z), {math.prod(p.lattice.extents)} sites"
    if p.measure.configurations:
        stored = f"measured:    {configurations(p)} stored configurations, {', '.join(p.measure.configurations)}"
        return "\n".join([lattice, stored, "", estimate(p, ranks, 1)])
    lines = [lattice,
             f"action:      {p.action.gauge}, beta = {p.action.beta:g}"]
    for name, q in p.quarks.items():
        mass = f", mu = {q.mu:g} +- {q.epsilon:g}" if sea.is_doublet(q) else f", mu = {q.mu:g}" if q.mu else ""
        count = "two quarks" if q.flavours == 2 else "one quark"
        lines.append(f"{name + ':':12} {count}, kappa = {q.kappa:g}, m = {1 / (2 * q.kappa) - 4:.4g}{mass}, "
                     f"c_sw = {q.csw:g}")
    algorithm = ("heat bath" if p.updates.algorithm == "heatbath"
                 else f"hybrid Monte Carlo, {', '.join(dict.fromkeys(p.hmc.integrator))}, length {p.hmc.length:g}")
    lines.append(f"updates:     {algorithm}; {p.updates.configurations} configurations, {p.updates.sweeps} apart, "
                 f"after {p.updates.thermalisation}")
    if p.updates.algorithm == "hmc":
        scales, link_moves = time_scales(p)
        lines += [f"  a trajectory takes {count.kicks:5} forces of {count.term}" for count in scales]
        lines.append(f"  and moves links {link_moves} times")
    return "\n".join([*lines, "", estimate(p, ranks, 1)])


def estimate(p: Parameters, ranks: int, workers: int) -> Forecast:
    """Return boxes, memory and time of a run.

    InputError if the lattice cannot be cut for the ranks.
    """
    extents = list(p.lattice.extents)
    grid = _core.lqcd.choose_grid(ranks, extents) if p.run.grid == "auto" else list(p.run.grid)
    box, lanes = _core.lqcd.choose_layout(extents, list(grid))
    sites = math.prod(box)
    surface = sites - math.prod(n - 2 if cut > 1 else n for n, cut in zip(box, grid))
    faces = sum(2 * sites // n for n, cut in zip(box, grid) if cut > 1)
    needed, available = memory(p, sites), machine_memory()
    cores = ranks * workers
    parts = {part: value / cores for part, value in seconds(p).items()}
    multigrid = any(table.solver == "multigrid" for table in (*quark_tables(p), *p.quarks.values()))
    text = "\n".join([
        f"ranks:       {ranks} in a grid of {' x '.join(map(str, grid))}, {workers} worker(s) each; "
        f"boxes of {' x '.join(map(str, box))}, {lanes} lanes",
        f"surface:     {surface} of {sites} sites of a box have a neighbour elsewhere, {format_size(96 * faces)} for a "
        "hopping matrix",
        f"memory:      {format_size(needed)} of fields on a rank"
        + (f", which does not fit: this machine has {format_size(available)} for one" if needed > available else ""),
        "time:        " + ", ".join(f"{part} {format_duration(value)}" for part, value in parts.items())
        + f"; all {format_duration(sum(parts.values()))}",
        f"             to a factor of three where messages cost little, with {STEPS} steps of each solve, "
        "which is for heavy quarks" + (f", or {CYCLES} of multigrid" if multigrid else ""),
    ])
    return Forecast(text, parts=parts, memory=needed, ranks=ranks, workers=workers)
