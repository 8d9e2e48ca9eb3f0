"""Parameters of ``plaq lqcd``, one line each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs import parameters, running
from plaq.inputs.kinds import boolean, choice, integer, list_of, one_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter, Schema, shown
from plaq.lqcd import measurement_tables
from plaq.lqcd.choices import GAUGES, INTEGRATORS, KAPPA, MASS, RECTANGLES, RESIDUAL

PROGRAM = "plaq lqcd"
MOST_MOVES = 10**7  # of links in a trajectory
RATIONAL = ("strange", "heavy")  # sections whose quarks are of rational hybrid Monte Carlo, in the order of time scales
STARTS = ("hot", "cold")  # else the first field is read from a file
LENGTH = frozenset({"updates.configurations", "updates.save_every", "measure.configurations"})  # of the series
RANGES = frozenset(f"{name}.{key}" for name in RATIONAL for key in ("range", "poles"))

SCHEMA = Schema({
    "lattice": "The lattice, periodic in all directions.",
    "action": "Action of the gauge field: S = beta [c0 sum_P (1 - Re tr P / 3) + c1 sum_R (1 - Re tr R / 3)]. P are "
              "plaquettes, R are 2 x 1 rectangles, c0 = 1 - 8 c1.",
    "quarks": "Two degenerate Wilson quarks in the sea, or a twisted doublet, by hybrid Monte Carlo; "
              "none without kappa.",
    "strange": "One more Wilson quark in the sea, by rational hybrid Monte Carlo, with theta and csw of [quarks]; "
               "none without kappa.",
    "heavy": "Two more quarks of different masses in the sea, such as strange and charm: a twisted doublet "
             "(Frezzotti and Rossi, hep-lat/0311008). By rational hybrid Monte Carlo, with theta of [quarks], without "
             "clover term; none without kappa.",
    "updates": "The Markov chain. Heat bath: a sweep is one heat bath of all links and some over-relaxations. "
               "Hybrid Monte Carlo: a sweep is a trajectory.",
    "hmc": "Trajectories of hybrid Monte Carlo.",
    **measurement_tables.SECTIONS,
    "fixing": "Gauge fixing of every configuration before its measurements, as for sources on walls; none without "
              "gauge. The chain and its files are not changed.",
    "measure": "Measurements on stored configurations, in place of a chain: sections of the action, of quarks in the "
               "sea, of updates and trajectories are then not used; none without configurations.",
    "run": running.DOC,
}, [
    Parameter("lattice", "extents", list_of(integer(2, 1024), length=4), REQUIRED, "a", "T, X, Y, Z, even"),
    Parameter("action", "beta", real("[0, 1000]"), None, "", "6 / g^2; needed but with measure.configurations"),
    Parameter("action", "gauge", choice(*RECTANGLES), "wilson", "",
              "c1 = " + ", ".join(f"{c1:.6g}".replace("-0.0833333", "-1/12") for c1 in RECTANGLES.values())),
    Parameter("quarks", "kappa", KAPPA, None, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("quarks", "mu", MASS, 0.0, "1/a", "twisted mass"),
    Parameter("quarks", "csw", MASS, 0.0, "", "coefficient of the clover term"),
    Parameter("quarks", "theta", list_of(real("[-1, 1]"), length=4), (1.0, 0.0, 0.0, 0.0), "pi",
              "phases of quarks at the boundaries t, x, y, z; 1 is antiperiodic"),
    Parameter("quarks", "masses", list_of(real("[1e-12, 100]"), longest=8), (), "1/a",
              "ascending twisted masses of Hasenbusch's preconditioning: each makes one more term of the action"),
    Parameter("quarks", "residual", RESIDUAL, 1e-11, "", "residual of solutions at the ends of trajectories"),
    Parameter("quarks", "force_residual", RESIDUAL, 1e-7, "", "residual of solutions for forces"),
    Parameter("strange", "kappa", KAPPA, None, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("strange", "range", list_of(real("[1e-12, 100]"), length=2), None, "",
              "smallest and largest eigenvalue of M^+ M on odd sites, with a margin for their fluctuations; "
              "needed with kappa; may be wider when a run continues"),
    Parameter("strange", "poles", integer(2, 40), 12, "", "poles of the rational function for the inverse square root"),
    Parameter("heavy", "kappa", KAPPA, None, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("heavy", "mu", real("[0, 100]"), None, "1/a", "the mean of their masses, twisted; needed with kappa"),
    Parameter("heavy", "epsilon", real("[0, 100]"), None, "1/a",
              "half the difference of their masses; needed with kappa"),
    Parameter("heavy", "range", list_of(real("[1e-12, 100]"), length=2), None, "",
              "range of eigenvalues as strange.range, of the doublet's M"),
    Parameter("heavy", "poles", integer(2, 40), 12, "", "poles of the rational function for the inverse square root"),
    Parameter("updates", "algorithm", choice("heatbath", "hmc"), "heatbath", "",
              "algorithm of link updates; quarks need hmc"),
    Parameter("updates", "start", one_of("hot", one_of("cold", text())), "hot", "",
              "random links, or all one, or the file of a configuration: ILDG, SciDAC, NERSC, MILC or openQCD"),
    Parameter("updates", "seed", integer(0, 2**63 - 1), 1, "", "seed of all random numbers"),
    Parameter("updates", "thermalisation", integer(0, 10**8), 200, "sweeps", "sweeps before the first configuration"),
    Parameter("updates", "configurations", integer(1, 10**7), 200, "",
              "number of measured configurations; a run continues with more"),
    Parameter("updates", "sweeps", integer(1, 10**6), 5, "sweeps", "sweeps from one configuration to the next"),
    Parameter("updates", "over_relaxations", integer(0, 1000), 3, "", "in a sweep, after a heat bath"),
    Parameter("updates", "save_every", integer(0, 10**7), 0, "configurations",
              "distance of configurations that are written as conf.NNNNNN of the run's folder, in ILDG's format; "
              "0: the last one alone, which is always written"),
    Parameter("hmc", "length", real("[1e-6, 100]"), 1.0, "", "length of a trajectory"),
    Parameter("hmc", "integrator", choice(*INTEGRATORS), "2mn", "",
              "integrator of second or of fourth order (Omelyan, Mryglod and Folk, 2003)"),
    Parameter("hmc", "steps", list_of(integer(1, 10000), 1), (10,), "",
              "steps of the time scales: of a trajectory, then within each move of the coarser scale. One for each "
              "term: quarks from the lightest up (the heaviest with the determinant of the clover term), "
              "the strange one, the heavy doublet, last the gauge field"),
    *measurement_tables.TABLE,
    Parameter("fixing", "gauge", choice(*GAUGES), None, "", "all directions count, or those of space"),
    Parameter("fixing", "tolerance", real("[1e-28, 1]"), 1e-12, "", "largest theta, tr Delta Delta^+ / 3 on average"),
    Parameter("fixing", "relaxation", real("[1, 2)"), 1.7, "", "omega of over-relaxation"),
    Parameter("fixing", "sweeps", integer(1, 10**7), 10_000, "", "most sweeps; with theta above the tolerance then, "
              "the run ends with an error"),
    Parameter("measure", "configurations", list_of(text()), (), "",
              "files of configurations, or patterns such as run/conf.*, each in the order of the numbers in the names; "
              "a run continues with more behind them"),
    Parameter("measure", "verify", boolean(), True, "", "false: ignore checksums and plaquettes in the files"),
    Parameter("measure", "reunitarise", boolean(), False, "",
              "project links onto SU(3), such as those of 64 bits that were made of 32"),
    Parameter("measure", "seed", integer(0, 2**63 - 1), 1, "", "seed of the sources of quarks"),
    *running.rows([Parameter("run", "grid", one_of("auto", list_of(integer(1, 1024), length=4)), "auto", "ranks",
                             "ranks in each direction of the lattice; auto: with the smallest surface "
                             "between them")]),
])


class Parameters(parameters.Parameters):
    """Parameters of a run, such as ``p.action.beta`` and ``p.mesons["pion"].kappa``."""

    SCHEMA = SCHEMA
    FREE = RANGES | LENGTH
    INSTEAD = {
        **dict.fromkeys(RANGES, "a run can continue with a wider range, with as many poles or more"),
        "updates.configurations": "a run can continue with more configurations",
        "updates.start": "a run continues from its own fields: leave --from out",
    }

    @property
    def seed(self) -> int:
        """Seed of the sources of quarks."""
        return self.measure.seed if self.measure.configurations else self.updates.seed

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        extents = values["lattice"].extents
        if any(n % 2 for n in extents):
            raise InputError(f"{source}: lattice.extents = {shown(extents)} is not allowed: extents must be even")
        if values["action"].gauge != "wilson" and min(extents) < 4:
            raise InputError(f"{source}: lattice.extents = {shown(extents)} is not allowed with action.gauge = "
                             f'"{values["action"].gauge}": rectangles need extents of at least 4')
        measurement_tables.check(values, source)
        if values["measure"].configurations:
            return
        if values["action"].beta is None:
            raise InputError(f"{source}: action.beta is missing: it is needed but with measure.configurations")
        quarks, masses, steps = values["quarks"], values["quarks"].masses, values["hmc"].steps
        if values["updates"].algorithm == "heatbath":
            if quarks.kappa is not None:
                raise InputError(f'{source}: quarks.kappa = {quarks.kappa:g} is not allowed with '
                                 'updates.algorithm = "heatbath": quarks need "hmc"')
            for name in RATIONAL:
                if values[name].kappa is not None:
                    raise InputError(f'{source}: {name}.kappa is not allowed with updates.algorithm = "heatbath": '
                                     'quarks need "hmc"')
            return
        for name in RATIONAL:
            section = values[name]
            if section.kappa is not None and (section.range is None or section.range[0] >= section.range[1]):
                raise InputError(f"{source}: {name}.range = {shown(section.range)} is not allowed with {name}.kappa: "
                                 "it has the smallest and the largest eigenvalue of M^+ M")
        heavy = values["heavy"]
        if heavy.kappa is not None:
            for key in ("mu", "epsilon"):
                if getattr(heavy, key) is None:
                    raise InputError(f"{source}: heavy.{key} is missing: it is needed with heavy.kappa")
            if heavy.epsilon**2 >= heavy.mu**2 + 1 / (2 * heavy.kappa)**2:
                raise InputError(f"{source}: heavy.epsilon = {heavy.epsilon:g} is not allowed: it is less than "
                                 "sqrt(mu^2 + 1 / (2 kappa)^2)")
            if quarks.csw:
                raise InputError(f"{source}: quarks.csw = {quarks.csw:g} is not allowed with heavy.kappa: the heavy "
                                 "doublet has no clover term")
        if any(a >= b for a, b in zip(masses, masses[1:])):
            raise InputError(f"{source}: quarks.masses = {shown(masses)} is not allowed: masses ascend")
        terms = 1 + (0 if quarks.kappa is None else 1 + len(masses)) + sum(values[name].kappa is not None
                                                                           for name in RATIONAL)
        if len(steps) != terms:
            of = "the gauge field" if terms == 1 else f"{terms - 1} of quarks and the gauge field"
            raise InputError(f"{source}: hmc.steps = {shown(steps)} is not allowed: one number for each term of "
                             f"the action, {terms} ({of})")
        moves = math.prod(steps) * len(INTEGRATORS[values["hmc"].integrator][1]) ** len(steps)
        if moves > MOST_MOVES:
            raise InputError(f"{source}: hmc.steps = {shown(steps)} is not allowed: a trajectory moves links at most "
                             f"{MOST_MOVES} times")

    def binds(self, key: str) -> bool:
        return super().binds(key) and not measurement_tables.is_of_measurements(key)

    def remedy(self, key: str) -> str:
        if measurement_tables.is_of_measurements(key):
            return "a run continues with the measurements that it has, and with more under other names"
        return super().remedy(key)

    def may_grow(self, key: str, before: Parameters) -> bool:
        """Allow wider ranges of rational functions with as many poles or more, more configurations and measurements."""
        if measurement_tables.is_of_measurements(key):
            return measurement_tables.may_grow(key, self.values(), before.values())
        section, _, name = key.partition(".")
        new, old = getattr(getattr(self, section), name), getattr(getattr(before, section), name)
        if key in RANGES and name == "range":
            return None not in (new, old) and new[0] <= old[0] and old[1] <= new[1]
        if key == "measure.configurations":
            return bool(new) == bool(old)
        return key == "updates.save_every" or key in RANGES | LENGTH and new >= old
