"""Tables of the input that ask for measurements, any number of each: their parameters and checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plaq.errors import InputError
from plaq.inputs.kinds import boolean, choice, either, integer, list_of, one_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter, shown
from plaq.lqcd import aggregates, boundaries
from plaq.lqcd.choices import FLOWS, KAPPA, MASS, METHODS, PRECISIONS, RESIDUAL
from plaq.lqcd.fields.gamma import STRUCTURES
from plaq.lqcd.sea import check_clover

PARTICLES = ("nucleon", "sigma", "xi", "lambda", "delta", "sigma_star", "xi_star", "omega")
STRANGE = frozenset(PARTICLES) - {"nucleon", "delta"}
MOST_FLOW = 10_000  # steps of the flow
OF_ANALYSIS = frozenset({"plateau", "fit_from", "z_a", "cA"})  # keys that change no measured number

SECTIONS = {
    "loops.*": "Wilson loops and 2 x 1 rectangles, and the static potential. Every table has its own name, as "
               "[loops.smeared].",
    "mesons.*": "Two-point functions of valence quarks, as [mesons.pion].",
    "baryons.*": "Two-point functions of baryons of valence quarks u, d and s, as [baryons.nucleon].",
    "charges.*": "Three-point functions of a baryon at rest at the sink, by sequential sources, as [charges.proton].",
    "form_factors.*": "Three-point functions of a pseudoscalar meson at rest at the sink, by sequential sources, as "
                      "[form_factors.pion].",
    "disconnected.*": "Loops of quarks, tr Gamma M^-1(x, x) summed over space, from noise on all sites, as "
                      "[disconnected.light].",
    "overlap.*": "Overlap quarks: two-point functions, condensate, small eigenvalues and index, as [overlap.pion].",
    "walls.*": "Correlators of quarks from the walls of the Schroedinger functional, f_A, f_P and f_1, as "
               "[walls.light].",
    "flow.*": "The gradient flow, its scales t0 and w0, and the topological charge, as [flow.wilson].",
    "reweighting.*": "Reweighting factors, as [reweighting.light]: the determinant that quarks of a table "
                     "[quarks.NAME] should have over the one that they have.",
}
FAMILIES = tuple(section.removesuffix(".*") for section in SECTIONS)


def _every(section: str) -> Parameter:
    return Parameter(section, "every", integer(1, 10**7), 1, "configurations",
                     "distance of configurations that are measured: those whose numbers are its multiples")


def _links(section: str, purpose: str) -> list[Parameter]:
    return [Parameter(section, "ape_alpha", real("[0, 1]"), 0.5, "", "weight of the staples in APE smearing of links"),
            Parameter(section, "ape_steps", integer(0, 1000), 0, "",
                      f"smearing steps of links in space, for {purpose}")]


def _quark(section: str) -> list[Parameter]:
    return [Parameter(section, "kappa", KAPPA, REQUIRED, "", "hopping parameter 1 / (2 m + 8)"),
            Parameter(section, "mu", MASS, 0.0, "1/a", "twisted mass"),
            Parameter(section, "csw", MASS, 0.0, "", "coefficient of the clover term"),
            Parameter(section, "clover", choice("linear", "exponential"), "linear", "",
                      "form of the clover term: 1 + C, or exp(C)"),
            Parameter(section, "cF", MASS, 1.0, "", "coefficient of the improvement at open boundaries"),
            *_theta(section)]


def _theta(section: str) -> list[Parameter]:
    return [Parameter(section, "theta", list_of(real("[-1, 1]"), length=4), (1.0, 0.0, 0.0, 0.0), "pi",
                      "phases of quarks at the boundaries t, x, y, z; 1 is antiperiodic; that of t has no effect on "
                      "open boundaries")]


def _sources(section: str, *more: str) -> list[Parameter]:
    return [Parameter(section, "source", choice("point", "wall", *more), "point", "",
                      "a site, or all sites of its time slice" + (" with equal numbers or with noise" if more else "")),
            *_timed_sources(section)]


def _timed_sources(section: str) -> list[Parameter]:
    return [_site_sources(section),
            Parameter(section, "source_time", integer(0, 1023), None, "a",
                      "time slice of sites at random; a random one if unset; needed with open boundaries")]


def _site_sources(section: str) -> Parameter:
    return Parameter(section, "sources", either(integer(1, 10000), list_of(list_of(integer(0, 1023), length=4), 1)), 1,
                     "", "number of sources on a configuration, at sites at random, or a list of sites [t, x, y, z]")


def _smearing(section: str) -> list[Parameter]:
    return [Parameter(section, "gauss_kappa", real("[1e-6, 1000]"), 0.25, "",
                      "weight in (1 + kappa H) / (1 + 6 kappa), which smears sources and sinks"),
            Parameter(section, "gauss_source", integer(0, 10000), 0, "", "smearing steps of sources; 0: none"),
            Parameter(section, "gauss_sink", integer(0, 10000), 0, "", "smearing steps of sinks; 0: none"),
            *_links(section, "the smearing of sources and sinks")]


def _flavours(section: str) -> list[Parameter]:
    return [Parameter(section, "kappa_d", KAPPA, None, "", "hopping parameter of d; kappa if unset"),
            Parameter(section, "mu_d", MASS, None, "1/a", "twisted mass of d; -mu if unset"),
            Parameter(section, "kappa_s", KAPPA, None, "", "hopping parameter of s; no strange quark if unset"),
            Parameter(section, "mu_s", MASS, 0.0, "1/a", "twisted mass of s")]


def _momenta(section: str, doc: str = "momenta at the sink, integers along x, y, z") -> Parameter:
    return Parameter(section, "momenta", list_of(list_of(integer(-512, 512), length=3), 1), ((0, 0, 0),), "2 pi / L",
                     doc)


def _solver(section: str) -> list[Parameter]:
    return [Parameter(section, "solver", choice(*METHODS), "cg", "", "method for the propagators"),
            Parameter(section, "precision", choice(*PRECISIONS), "single", "",
                      "precision of most of its steps; half is single with links in 16 bits; multigrid has single"),
            aggregates.parameter(section),
            Parameter(section, "residual", RESIDUAL, 1e-9, "", "|eta - M psi| / |eta| of the propagators")]


def _keep(section: str) -> Parameter:
    return Parameter(section, "keep", boolean(), False, "",
                     "whether propagators are kept in the folder propagators/ of the run, in SciDAC's format, and "
                     "taken from there where another table or a later run needs them")


TABLE = [
    Parameter("loops.*", "space", integer(1, 512), REQUIRED, "a",
              "sides in space from 1 to this, at most half of the lattice's"),
    Parameter("loops.*", "time", integer(2, 512), 4, "a",
              "sides in time from 1 to this, at most half of the lattice's"),
    *_links("loops.*", "the sides in space"),
    Parameter("loops.*", "plateau", integer(1, 511), None, "a",
              "t of ln W(r, t) / W(r, t + 1) that is taken for the potential; half of time if unset"),
    _every("loops.*"),
    Parameter("reweighting.*", "quarks", text(), REQUIRED, "",
              "name of a table of quarks: with a regulator, which the factor takes away; or with a rational function, "
              "which it makes exact if no mass is another one here"),
    Parameter("reweighting.*", "kappa", KAPPA, None, "", "hopping parameter that they should have; theirs if unset"),
    Parameter("reweighting.*", "mu", MASS, None, "1/a", "twisted mass that two quarks should have; theirs if unset"),
    Parameter("reweighting.*", "epsilon", real("[0, 100]"), None, "1/a",
              "half the difference of the masses that two of different ones should have; theirs if unset"),
    Parameter("reweighting.*", "sources", integer(1, 10000), 8, "", "Gaussian sources of the estimate on a field"),
    Parameter("reweighting.*", "residual", RESIDUAL, 1e-10, "", "residual of the solutions"),
    _every("reweighting.*"),
    *_quark("mesons.*"),
    Parameter("mesons.*", "kappa_2", KAPPA, None, "", "hopping parameter of the antiquark; kappa if unset"),
    Parameter("mesons.*", "mu_2", MASS, None, "1/a", "twisted mass of the antiquark's propagator, which is that of "
              "-mu_2 in the meson; mu if unset"),
    Parameter("mesons.*", "structures", list_of(choice(*STRUCTURES), 1), ("gamma5",), "",
              "gamma matrices of the mesons, the same at source and sink"),
    Parameter("mesons.*", "pairs", one_of("all", list_of(list_of(choice(*STRUCTURES), length=2))), (), "",
              "further pairs of gamma matrices, [sink, source]; all: the 256 pairs"),
    *_sources("mesons.*", "noise"),
    Parameter("mesons.*", "noise", choice("z4", "z2"), "z4", "",
              "numbers of noise on a time slice (the one-end trick): (+-1 +- i)/sqrt 2 or +-1"),
    Parameter("mesons.*", "dilution", list_of(choice("spin", "colour"), longest=2), ("spin",), "",
              "components that noise has separate columns for; without spin the source is gamma5 alone"),
    *_smearing("mesons.*"),
    _momenta("mesons.*"),
    Parameter("mesons.*", "fit_from", integer(0, 511), None, "a",
              "masses and decay constants by a fit of a cosh to correlators from this t to T/2; if unset, masses are "
              "averages over windows and one or two states"),
    Parameter("mesons.*", "z_a", real("(0, 100]"), None, "", "Z_A in f_PS; 1, for the local current, if unset"),
    *_solver("mesons.*"),
    _keep("mesons.*"),
    _every("mesons.*"),
    *_quark("baryons.*"),
    *_flavours("baryons.*"),
    Parameter("baryons.*", "particles", list_of(choice(*PARTICLES), 1), ("nucleon",), "",
              "baryons, each with both projectors of parity; those with strange quarks need kappa_s"),
    *_sources("baryons.*"),
    *_smearing("baryons.*"),
    _momenta("baryons.*"),
    *_solver("baryons.*"),
    _keep("baryons.*"),
    _every("baryons.*"),
    *_quark("charges.*"),
    *_flavours("charges.*"),
    Parameter("charges.*", "particle", choice(*PARTICLES), "nucleon", "", "the baryon at source and sink"),
    Parameter("charges.*", "sink_times", list_of(integer(1, 1023), 1), REQUIRED, "a",
              "times of the sink from the source, each with its own solves"),
    Parameter("charges.*", "structures", list_of(choice(*STRUCTURES), 1), tuple(STRUCTURES), "",
              "gamma matrices of the currents, each with a polarised baryon and without"),
    *_sources("charges.*"),
    *_smearing("charges.*"),
    _momenta("charges.*", "momenta of the current, integers along x, y, z"),
    *_solver("charges.*"),
    _keep("charges.*"),
    _every("charges.*"),
    *_quark("form_factors.*"),
    Parameter("form_factors.*", "kappa_2", KAPPA, None, "", "hopping parameter of the antiquark; kappa if unset"),
    Parameter("form_factors.*", "mu_2", MASS, None, "1/a", "twisted mass of the antiquark's propagator, which is that "
              "of -mu_2 in the meson; mu if unset"),
    Parameter("form_factors.*", "sink_times", list_of(integer(1, 1023), 1), REQUIRED, "a",
              "times of the sink from the source, each with its own solves"),
    Parameter("form_factors.*", "structures", list_of(choice(*STRUCTURES), 1), ("gammat",), "",
              "gamma matrices of the quark's currents"),
    *_timed_sources("form_factors.*"),
    *_smearing("form_factors.*"),
    _momenta("form_factors.*", "momenta of the current and of the meson before it, integers along x, y, z"),
    *_solver("form_factors.*"),
    _keep("form_factors.*"),
    _every("form_factors.*"),
    *_quark("disconnected.*"),
    Parameter("disconnected.*", "structures", list_of(choice(*STRUCTURES), 1), ("1", "gamma5"), "",
              "gamma matrices of the loops"),
    Parameter("disconnected.*", "vectors", integer(1, 10**6), 1, "", "number of noise vectors, each a series of its "
              "own"),
    Parameter("disconnected.*", "noise", choice("z4", "z2"), "z4", "", "numbers of noise: (+-1 +- i)/sqrt 2 or +-1"),
    Parameter("disconnected.*", "dilution", list_of(choice("spin", "colour"), longest=2), (), "",
              "components that are solved separately"),
    Parameter("disconnected.*", "time_dilution", integer(1, 1024), 1, "a",
              "distance of the time slices that are solved together; T: each slice alone"),
    Parameter("disconnected.*", "probing", integer(0, 40), 0, "",
              "vectors of hierarchical probing, 2 to this power: 1 separates even and odd sites, 4 sites with odd "
              "distances in any direction, and so on (Stathopoulos, Laeuchli and Orginos, arXiv:1302.4018)"),
    Parameter("disconnected.*", "one_end", boolean(), False, "",
              "whether the difference of a twisted doublet is measured, mu less -mu, by the one-end trick"),
    _momenta("disconnected.*", "momenta of the loops, integers along x, y, z"),
    *_solver("disconnected.*"),
    _every("disconnected.*"),
    Parameter("overlap.*", "masses", list_of(real("(0, 4)")), (), "1/a",
              "masses of quarks, which share their solves; below 2 rho"),
    Parameter("overlap.*", "rho", real("(0, 2)"), 1.4, "1/a",
              "minus the mass of Wilson's operator in the sign function"),
    *_theta("overlap.*"),
    Parameter("overlap.*", "stout_rho", real("[0, 1]"), 0.1, "", "weight of the staples in stout smearing of links"),
    Parameter("overlap.*", "stout_steps", integer(0, 1000), 0, "", "smearing steps of the links of the operator"),
    Parameter("overlap.*", "structures", list_of(choice(*STRUCTURES), 1), ("gamma5",), "",
              "gamma matrices of the mesons, the same at source and sink"),
    _site_sources("overlap.*"),
    Parameter("overlap.*", "fit_from", integer(0, 511), None, "a",
              "masses by a fit of a cosh to correlators from this t to T/2; if unset, they are averages over windows "
              "and one or two states"),
    Parameter("overlap.*", "eigenvalues", integer(0, 1000), 0, "",
              "number of the smallest eigenvalues that are not zero, which give the index as well; 0: none"),
    Parameter("overlap.*", "low_modes", integer(1, 1000), 16, "",
              "eigenvectors of Wilson's operator that the sign function treats exactly; more make solves faster"),
    Parameter("overlap.*", "error", real("[1e-13, 1e-4]"), 1e-10, "", "of the sign function, |delta psi| / |psi|"),
    Parameter("overlap.*", "residual", RESIDUAL, 1e-8, "", "|eta - D psi| / |eta| of the propagators"),
    _every("overlap.*"),
    Parameter("walls.*", "kappa", KAPPA, REQUIRED, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("walls.*", "csw", MASS, 0.0, "", "coefficient of the clover term"),
    Parameter("walls.*", "ct", MASS, 1.0, "", "coefficient of the improvement at the walls, 1 - 0.018 g^2 to one loop"),
    Parameter("walls.*", "cA", MASS, 0.0, "", "coefficient of the improvement of the axial current"),
    Parameter("walls.*", "theta", list_of(real("[-1, 1]"), length=3), (0.0, 0.0, 0.0), "pi",
              "phases of quarks at the boundaries x, y, z"),
    Parameter("walls.*", "solver", choice("cg", "bicgstab", "gcr"), "cg", "", "method for the propagators"),
    Parameter("walls.*", "precision", choice(*PRECISIONS), "single", "",
              "precision of most of its steps; half is single with links in 16 bits"),
    Parameter("walls.*", "residual", RESIDUAL, 1e-9, "", "|eta - M psi| / |eta| of the propagators"),
    _every("walls.*"),
    Parameter("flow.*", "time", real("[1e-6, 1000]"), REQUIRED, "a^2", "flow time of the last measurement"),
    Parameter("flow.*", "step", real("[1e-6, 0.1]"), 0.05, "a^2",
              "step of the integration, and between two measurements"),
    Parameter("flow.*", "kind", choice(*FLOWS), "wilson", "",
              "action of the flow: plaquettes; with rectangles, c1 = -1/12; that with the term of Ramos and Sint"),
    _every("flow.*"),
]


def each(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield (family, name, table) of all tables that ask for measurements."""
    for family in FAMILIES:
        yield from ((family, name, table) for name, table in values[family].items())


def is_of_measurements(key: str) -> bool:
    """Return whether a key of the input, as ``mesons.pion.kappa``, belongs to such a table."""
    return key.partition(".")[0] in FAMILIES


def may_grow(key: str, here: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Return whether a run may continue with another value of such a key: in new tables, or for the analysis alone."""
    family, name, last = key.split(".")
    return name in here[family] and (name not in before[family] or last in OF_ANALYSIS)


def check(values: Mapping[str, Any], source: str) -> None:
    """Raise InputError for keys of these tables that contradict each other, the lattice or the number of fields."""
    extents, configurations = values["lattice"].extents, values["updates"].configurations
    stored = values["measure"].configurations
    for family, name, table in each(values):
        key = f"{family}.{name}"
        if not stored and table.every > configurations:
            raise InputError(f"{source}: {key}.every = {table.every} is not allowed with updates.configurations = "
                             f"{configurations}: no configuration is measured")
        if family in CHECKS:
            CHECKS[family](table, f"{source}: {key}", extents)
        if hasattr(table, "cF"):
            check_clover(table, values["lattice"].boundary, lambda last, why, key=key, table=table: InputError(
                f"{source}: {key}.{last} = {shown(getattr(table, last))} is not allowed{why}"))
        if values["lattice"].boundary == boundaries.OPEN:
            boundaries.check_table(family, name, table, source, extents[0])


def check_loops(loops: Any, source: str, extents: Sequence[int]) -> None:
    for side, half in {"space": min(extents[1:]) // 2, "time": extents[0] // 2}.items():
        if getattr(loops, side) > half:
            raise InputError(f"{source}.{side} = {getattr(loops, side)} is not allowed with lattice.extents = "
                             f"{shown(extents)}: sides are at most {half}")
    if loops.plateau is not None and loops.plateau >= loops.time:
        raise InputError(f"{source}.plateau = {loops.plateau} is not allowed: it is below time = {loops.time}")


def check_quarks(table: Any, source: str, extents: Sequence[int]) -> None:
    """Raise InputError for solvers, sources and momenta that no table with quarks may have."""
    if table.solver == "multigrid" and table.precision != "single":
        raise InputError(f'{source}.precision = "{table.precision}" is not allowed with solver = "multigrid": its '
                         "steps are in single precision")
    aggregates.check_aggregates(table, source, extents)
    sites = getattr(table, "sources", 1)
    check_sites(sites, source, extents)
    check_distinct(table, "momenta", source)
    time = getattr(table, "source_time", None)
    if time is not None and (not isinstance(sites, int) or time >= extents[0]):
        raise InputError(f"{source}.source_time = {time} is not allowed "
                         + (f"with lattice.extents = {shown(extents)}: it is below T = {extents[0]}"
                            if isinstance(sites, int) else "with a list of sources, whose sites have times"))


def check_sites(sites: Any, source: str, extents: Sequence[int]) -> None:
    """Raise InputError for a list of sources that repeats a site or leaves the lattice."""
    if isinstance(sites, int):
        return
    for site in sites:
        if any(x >= n for x, n in zip(site, extents)):
            raise InputError(f"{source}.sources = {shown(sites)} is not allowed with lattice.extents = "
                             f"{shown(extents)}: {shown(site)} is not on it")
    if len(set(sites)) < len(sites):
        raise InputError(f"{source}.sources = {shown(sites)} must not repeat a value")


def check_distinct(table: Any, key: str, source: str) -> None:
    """Raise InputError for a list of values that repeats one."""
    values = getattr(table, key)
    if len(set(values)) < len(values):
        raise InputError(f"{source}.{key} = {shown(values)} must not repeat a value")


def check_mesons(mesons: Any, source: str, extents: Sequence[int]) -> None:
    check_quarks(mesons, source, extents)
    if mesons.keep and mesons.source != "point":
        raise InputError(f'{source}.keep = true is not allowed with source = "{mesons.source}": files hold '
                         "propagators of points")
    if mesons.source == "noise" and "spin" not in mesons.dilution:
        if mesons.structures != ("gamma5",) or mesons.pairs == "all" or any(b != "gamma5" for _, b in mesons.pairs):
            raise InputError(f"{source}.dilution = {shown(mesons.dilution)} is not allowed: without spin all sources "
                             "are gamma5")
    check_distinct(mesons, "structures", source)
    check_fit(mesons.fit_from, source, extents)


def check_fit(first: int | None, source: str, extents: Sequence[int]) -> None:
    """Raise InputError for the first time of a fit that leaves fewer than three points."""
    if first is not None and first > extents[0] // 2 - 2:
        raise InputError(f"{source}.fit_from = {first} is not allowed: a fit takes three points up to T/2 = "
                         f"{extents[0] // 2}")


def check_overlap(overlap: Any, source: str, extents: Sequence[int]) -> None:
    check_sites(overlap.sources, source, extents)
    check_fit(overlap.fit_from, source, extents)
    check_distinct(overlap, "structures", source)
    if not overlap.masses and not overlap.eigenvalues:
        raise InputError(f"{source}.masses = [] is not allowed with eigenvalues = 0: nothing is measured")
    if len({f"{mass:g}" for mass in overlap.masses}) < len(overlap.masses):
        raise InputError(f"{source}.masses = {shown(overlap.masses)} must not repeat a value in six digits")
    for mass in overlap.masses:
        if mass >= 2 * overlap.rho:
            raise InputError(f"{source}.masses = {shown(overlap.masses)} is not allowed with rho = {overlap.rho:g}: "
                             f"masses are below 2 rho = {2 * overlap.rho:g}")
    sites = math.prod(extents)
    for key, most in (("low_modes", 2 * sites), ("eigenvalues", sites)):
        if getattr(overlap, key) > most:
            raise InputError(f"{source}.{key} = {getattr(overlap, key)} is not allowed with lattice.extents = "
                             f"{shown(extents)}: it is at most {most}")


def check_flow(flow: Any, source: str, extents: Sequence[int]) -> None:
    if flow.time / flow.step > MOST_FLOW:
        raise InputError(f"{source}.step = {flow.step:g} is not allowed with time = {flow.time:g}: the flow takes at "
                         f"most {MOST_FLOW} steps")
    if flow.kind != "wilson" and min(extents) < 4:
        raise InputError(f'{source}.kind = "{flow.kind}" is not allowed with lattice.extents = {shown(extents)}: '
                         "rectangles need extents of at least 4")


def check_baryons(baryons: Any, source: str, extents: Sequence[int]) -> None:
    check_quarks(baryons, source, extents)
    check_particles(baryons, baryons.particles, "particles", source)


def check_particles(table: Any, particles: Sequence[str], key: str, source: str) -> None:
    """Raise InputError where files cannot hold propagators, where particles repeat, or have no strange quark."""
    if table.keep and table.source != "point":
        raise InputError(f'{source}.keep = true is not allowed with source = "{table.source}": files hold '
                         "propagators of points")
    if len(set(particles)) < len(particles):
        raise InputError(f"{source}.{key} = {shown(particles)} must not repeat a value")
    strange = [particle for particle in particles if particle in STRANGE]
    if strange and table.kappa_s is None:
        raise InputError(f'{source}.kappa_s is missing: it is needed for "{strange[0]}"')


def check_charges(charges: Any, source: str, extents: Sequence[int]) -> None:
    check_three_point(charges, source, extents)
    check_particles(charges, [charges.particle], "particle", source)


def check_three_point(table: Any, source: str, extents: Sequence[int]) -> None:
    """Raise InputError for values that no table of three-point functions may have."""
    check_quarks(table, source, extents)
    for key in ("sink_times", "structures"):
        check_distinct(table, key, source)
    if max(table.sink_times) >= extents[0]:
        raise InputError(f"{source}.sink_times = {shown(table.sink_times)} is not allowed: times are below T = "
                         f"{extents[0]}")


def check_disconnected(loops: Any, source: str, extents: Sequence[int]) -> None:
    check_quarks(loops, source, extents)
    check_distinct(loops, "structures", source)
    if extents[0] % loops.time_dilution:
        raise InputError(f"{source}.time_dilution = {loops.time_dilution} is not allowed: it divides T = {extents[0]}")
    most = sum(power_of_two(n) for n in extents)
    if loops.probing > most:
        raise InputError(f"{source}.probing = {loops.probing} is not allowed with lattice.extents = {shown(extents)}: "
                         f"it is at most {most}, the number of factors of two in them")
    if loops.one_end and not loops.mu:
        raise InputError(f"{source}.one_end = true is not allowed with mu = 0: it is for a twisted doublet")


def power_of_two(n: int) -> int:
    """Return the number of factors of two in n."""
    return (n & -n).bit_length() - 1


CHECKS = {"loops": check_loops, "mesons": check_mesons, "baryons": check_baryons, "charges": check_charges,
          "form_factors": check_three_point, "disconnected": check_disconnected, "overlap": check_overlap,
          "flow": check_flow}
"""Checks of tables by their own keys; those of walls and reweighting need other sections."""
