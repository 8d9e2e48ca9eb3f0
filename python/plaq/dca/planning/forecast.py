"""``plaq check`` and ``plaq dca estimate``: an input in words, and the needs of its run, here or elsewhere."""

from __future__ import annotations

import numpy as np

from plaq.data.formatting import format_duration, format_size, vector
from plaq.dca.lattice.chemical_potential import strength as interaction_strength
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.model import cluster_of, lattice_of
from plaq.dca.lattice.pairing import pairing_irreps
from plaq.dca.lattice.particle_hole import at_half_filling
from plaq.dca.lattice.path import corners
from plaq.dca.lattice.symmetry import PointGroup, irrep_projectors
from plaq.dca.parameters import Parameters
from plaq.dca.planning.cost import Machine, cost, iterations
from plaq.dca.planning.needs import check_ranks
from plaq.dca.solver import devices
from plaq.dca.units import measured, strength
from plaq.errors import InputError
from plaq.machine import pool_options
from plaq.run.forecast import Forecast

HOT = 5.0  # times band width or U: a temperature that may be meant in another unit


def describe(p: Parameters) -> str:
    """Return the text that ``plaq check`` prints."""
    cluster, interaction = cluster_of(p), p.hamiltonian.interaction
    lattice, group = cluster.lattice, PointGroup(cluster, interaction if p.is_general else None, p.dca.isolated)
    filling = f"density {p.dca.density}" if p.dca.density is not None else f"mu = {measured(p.dca.mu, p.unit)}"
    if at_half_filling(p, cluster) is not None:
        filling += " (half filling is mu = U/2: particle-hole symmetry)"
    low, high = lattice.extrema
    hint, noun = remark(p), "site" if lattice.bands == 1 else "cell"
    lines = [
        f"model:       U = {strength(p.model, p.unit)}, {filling}, band from {measured(f'{low:.4g}', p.unit)} to "
        f"{measured(f'{high:.4g}', p.unit)}",
        *term_lines(p),
        *cell_lines(lattice),
        f"cluster:     {cluster.size} {noun}{'s' * (cluster.size > 1)}, vectors {cluster.vectors.tolist()}"
        + (", isolated" if p.dca.isolated else ""),
        f"{noun}s:       {' '.join(map(vector, cluster.sites))}",
        f"momenta:     {' '.join(cluster.names)}",
        f"point group: {group.name}, {len(distinct(group.operations))} of the {len(lattice.point_group)} operations of "
        f"the lattice ({lattice.system.name})",
        f"irreps:      {' '.join(pairing_irreps(group) if p.is_general else irrep_projectors(cluster))}",
        *band_lines(lattice, p.unit),
        *([f"remark:      {hint}"] if hint else []),
        "",
    ]
    if p.solver.kind == "ed":
        return "\n".join([*lines, exact_needs(p, cluster)])
    workers = pool_options(p.run.workers, p.run.bind).workers
    lines.append(f"{'T':>8} {'<k>':>8} {'window':>8} {'per chain':>12} {'one rank':>12} {'time':>14}")
    total, largest, on_device = 0.0, 0.0, 0.0
    for T in p.dca.temperatures:
        n = cost(p, cluster, T, Machine(), 1, workers)
        total, largest = total + n.seconds, max(largest, n.rank_bytes)
        on_device = max(on_device, n.device_bytes)
        lines.append(
            f"{T:8.4g} {n.order:8.0f} {n.window or '–':>8} {format_size(n.chain_bytes):>12} "
            f"{format_size(n.rank_bytes):>12} {format_duration(n.seconds):>14}"
        )
    lines += [
        "",
        f"estimate:    {format_size(largest)} on one rank, {format_duration(total)} on {workers} worker(s) here, with",
        f"             {counted(p)}; both numbers to a factor of two or three",
    ]
    try:
        texts = [f"GPU {gpu}, {places(memory, on_device)}" for gpu, memory in devices.memory(p).items()]
        texts += ["the time above is that of workers"] * bool(texts)
    except InputError as error:  # of a machine that the run is not for
        texts = [str(error)]
    lines += [f"device:      {text}" for text in texts]
    return "\n".join(lines)


def term_lines(p: Parameters) -> list[str]:
    """Return a line on the terms of H beside hopping and U, where there are some."""
    m, unit = p.model, p.unit
    number = lambda value: measured(f"{value:g}", unit)
    terms = []
    given = p.explicit["model"]
    if file := given.get("hopping_file"):
        terms += [f"{len(p.hamiltonian.hopping[0])} displacements of {file}" + (
            f", those without an amplitude above {number(given['hopping_cutoff'])} left out"
            if given.get("hopping_cutoff") else "")]
    if m.J is not None or m.U_prime is not None:
        terms += [f"U' = {'U - 2J' if m.U_prime is None else number(m.U_prime)}", f"J = {number(m.J or 0)}" + (
            " with spin flips and pair hopping" if m.kanamori else ", densities only" if m.J else "")]
    if m.V is not None or any(name.startswith("V") for name, _ in m.amplitudes or ()):
        terms += ["V, each image of a bond" if m.V_images == "each" else "V, a bond once"]
    for name, value in (("field", m.field), ("staggered field", m.staggered_field)):
        if value is not None:
            terms += [f"{name} {number(value)}" if isinstance(value, float) else
                      f"{name} {', '.join(f'{number(h)} on {orbital}' for orbital, h in value)}"]
    return [f"terms:       {'; '.join(terms)}"] if terms else []


def cell_lines(lattice: Lattice) -> list[str]:
    """Return a line on the orbitals of the cell where there are several."""
    if lattice.bands == 1:
        return []
    places = (f"{name} at {vector(place)}" for name, place in zip(lattice.orbitals, lattice.positions))
    return [f"cell:        {', '.join(places)}"]


def band_lines(lattice: Lattice, unit: str) -> list[str]:
    """Return a line on the bands at each point of high symmetry, where it is more than one band of the plane."""
    if lattice.one_band and lattice.dimension == 2:
        return []
    names, points = corners(lattice)
    lines, seen = [], set()
    for name, k in zip(names, points):
        spins = [" ".join(f"{energy + 0.0:.4g}" for energy in lattice.energies(k, spin).round(10) + 0.0)
                 for spin in range(lattice.spins)]
        label = "" if seen else f"bands{f' / {unit}' if unit else ''}:"
        if name not in seen:
            lines.append(f"{label:<13}{name} {' | '.join(dict.fromkeys(spins))}")
        seen.add(name)
    return lines


def distinct(matrices: np.ndarray) -> set[bytes]:
    """Return the different ones of matrices [n, D, D]."""
    return {g.tobytes() for g in matrices}


def remark(p: Parameters) -> str:
    """Return a remark on an input that can be run but may not be meant; empty where there is none."""
    low, high = lattice_of(p).extrema
    largest = max(high - low, interaction_strength(p.hamiltonian.interaction))
    hot = [T for T in p.dca.temperatures if T > HOT * largest]
    if not hot:
        return ""
    shown = f"{hot[0]:g}" + (f" to {hot[-1]:g}" if len(hot) > 1 else "")
    width = measured(f"{high - low:.4g}", p.unit)
    return (f"T = {shown} is far above the band width of {width} and U: temperatures are energies, k_B T with k_B = 1, "
            "in the unit of U and the hopping")


def forecast(p: Parameters, machine: Machine, ranks: int, workers: int) -> Forecast:
    """Return wall time by part, memory and efficiency on many ranks."""
    if p.solver.kind == "ed":
        raise InputError('solver.kind = "ed": exact diagonalisation runs on one core; `plaq check` estimates it')
    check_ranks(p, ranks)
    cluster = cluster_of(p)
    costs = [cost(p, cluster, T, machine, ranks, workers) for T in p.dca.temperatures]
    alone = [cost(p, cluster, T, machine, 1, 1) for T in p.dca.temperatures]
    parts = ("solver", "exchange", "evaluation", "writing")
    lines = [
        f"machine:     {machine.name}",
        f"ranks:       {ranks}, with {workers} worker(s) each: {ranks * workers} cores for {p.solver.chains} chains",
        "",
        f"{'T':>8} {'<k>':>8} {'single rank':>10}" + "".join(f" {part:>12}" for part in (*parts, "total"))
        + f" {'efficiency':>11}",
    ]

    def line(name, order, memory, seconds, before):
        efficiency = before / (seconds[-1] * ranks * workers)
        return (f"{name:>8} {order:>8} {memory:>10}" + "".join(f" {format_duration(value):>12}" for value in seconds)
                + f" {100 * efficiency:9.0f} %")

    for c, single in zip(costs, alone):
        lines.append(line(f"{c.T:.4g}", f"{c.order:.0f}", format_size(c.rank_bytes),
                          [*(getattr(c, part) for part in parts), c.seconds], single.seconds))
    total = {part: sum(getattr(c, part) for c in costs) for part in parts}
    all_seconds, memory = sum(total.values()) + machine.startup, max(c.rank_bytes for c in costs)
    on_one_core = sum(c.seconds for c in alone) + machine.startup
    lines += [
        line("all", "", format_size(memory), [*total.values(), all_seconds], on_one_core),
        "",
        f"start-up {format_duration(machine.startup)}; {counted(p)}; efficiency is against one core",
    ]
    if ranks > 1 and any(c.window for c in costs):
        lines.append('distributed two-particle functions, run.two_particle = "distributed": '
                     f"{format_size(max(c.distributed_bytes for c in costs))} a rank, "
                     f"{format_duration(sum(c.distributed_seconds for c in costs) + machine.startup)}")
    if p.run.device != "none":
        lines.append(f"on a GPU: {places(machine.gpu_memory, max(c.device_bytes for c in costs))}; the times above are "
                     "those of workers")
    if p.solver.chains % (ranks * workers):
        lines.append(f"{p.solver.chains} chains are not a multiple of {ranks * workers} cores: some cores will be idle")
    return Forecast("\n".join(lines), parts=total | {"start-up": machine.startup}, memory=memory, ranks=ranks,
                    workers=workers, efficiency=on_one_core / (all_seconds * ranks * workers))


def counted(p: Parameters) -> str:
    """Return the number of iterations that the times assume, in words."""
    cluster = cluster_of(p)
    counts = sorted({len(iterations(p, cluster, T, 0, 0)) for T in p.dca.temperatures})
    return f"{' or '.join(map(str, counts))} iteration{'s' * (counts != [1])} at every temperature"


def places(memory: float, chain: float) -> str:
    """Return the number of chains that fit so much memory of a GPU, in words."""
    return (f"{format_size(chain)} a chain, {format_size(memory)} for a rank: at most {int(memory // chain)} chains "
            "at once")


def exact_needs(p: Parameters, cluster: Cluster) -> str:
    """Return the time of exact diagonalisation, in words, to a factor of three: measured for up to 16 frequencies."""
    functions = len(p.two_particle.channels) * len(p.two_particle.transfers) * len(p.two_particle.bosonic)
    modes = cluster.size * cluster.lattice.bands
    eigenstates = 300 * 16.0 ** (modes - 8) / cluster.size**2  # blocks of all momenta, each cubed
    total = sum(
        1.0 + eigenstates + (functions * (10.0 if cluster.size == 4 else 1.0) if p.measures_two_particle(T) else 0.0)
        for T in p.dca.temperatures
    )
    return f"estimate:    {4**modes} states, exact diagonalisation in about {format_duration(total)}"
