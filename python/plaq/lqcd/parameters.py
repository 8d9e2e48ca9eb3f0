"""Parameters of ``plaq lqcd``, one line each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from plaq.errors import InputError
from plaq.inputs import parameters, running
from plaq.inputs.kinds import boolean, choice, either, integer, list_of, one_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter, Schema, shown
from plaq.lqcd import aggregates, boundaries, measurement_tables, sea
from plaq.lqcd.choices import (
    GAUGES,
    KAPPA,
    MASS,
    PRECISIONS,
    RECTANGLES,
    RESIDUAL,
    SEA_METHODS,
    rectangle_coefficient,
)
from plaq.lqcd.integrators import INTEGRATORS, TUNABLE, moves

PROGRAM = "plaq lqcd"
MOST_MOVES = 10**7  # of links in a trajectory
STARTS = ("hot", "cold")  # else the first field is read from a file
LENGTH = frozenset({"updates.configurations", "updates.save_every", "measure.configurations"})  # of the series
RANGES = frozenset(f"quarks.*.{key}" for key in ("range", "poles", "correction"))
MONITORS = frozenset(f"hmc.{key}_every" for key in ("forces", "reversibility", "eigenvalues"))

SCHEMA = Schema({
    "lattice": "The lattice, periodic in space.",
    "action": "Action of the gauge field: S = beta [c0 sum_P (1 - Re tr P / 3) + c1 sum_R (1 - Re tr R / 3)]. P are "
              "plaquettes, R are 2 x 1 rectangles, c0 = 1 - 8 c1.",
    "schroedinger": 'Walls of the Schroedinger functional, with lattice.boundary = "schroedinger": of the time '
                    "slices 0 and T have fixed links in space (Luescher, Sommer, Weisz and Wolff, Nucl. Phys. B 413, "
                    "481 (1994)).",
    "quarks.*": "Quarks in the sea, [quarks.NAME] for any number of them, by hybrid Monte Carlo: two of one mass, "
                "Wilson or twisted; one Wilson quark; or two of different masses, such as strange and charm, with "
                "epsilon (Frezzotti and Rossi, hep-lat/0311008). The last two are by rational hybrid Monte Carlo. "
                "Terms of the action are NAME, or NAME.1, NAME.2 ... of several, those that cost most first.",
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
    Parameter("lattice", "boundary", choice("periodic", "open", "schroedinger"), "periodic", "",
              "boundary in time; open ones need hmc or stored fields"),
    Parameter("schroedinger", "T", integer(2, 1023), None, "a",
              "distance of the walls, lattice.extents[0] - 1 or - 2; - 2 if unset"),
    Parameter("schroedinger", "field", choice("coupling", "zero"), "coupling", "",
              "links in space on the walls: the abelian ones of the coupling, or ones"),
    Parameter("schroedinger", "eta", real("[-1, 1]"), 0.0, "", "eta of the abelian links; the coupling needs 0"),
    Parameter("schroedinger", "nu", real("[-10, 10]"), 0.0, "", "nu of the abelian links"),
    Parameter("schroedinger", "ct", real("[0, 10]"), 1.0, "",
              "weight c_t of plaquettes in time at the walls; 1 - 0.089 g^2 - 0.0294 g^4 to two loops, g^2 = 6 / beta"),
    Parameter("action", "gauge", either(choice(*RECTANGLES), real("[-10, 10]")), "wilson", "",
              "a name, or c1 itself: c1 = " + ", ".join(f"{c1:.6g}".replace("-0.0833333", "-1/12")
                                                        for c1 in RECTANGLES.values())),
    Parameter("action", "cG", real("[0, 10]"), 1.0, "", "coefficient of the improvement at open boundaries"),
    Parameter("quarks.*", "kappa", KAPPA, REQUIRED, "", "hopping parameter 1 / (2 m + 8)"),
    Parameter("quarks.*", "flavours", integer(1, 2), 2, "", "number of quarks"),
    Parameter("quarks.*", "mu", MASS, 0.0, "1/a", "twisted mass; of two masses the mean"),
    Parameter("quarks.*", "epsilon", real("[0, 100]"), None, "1/a",
              "half the difference of two masses; unset if they are equal"),
    Parameter("quarks.*", "csw", MASS, 0.0, "", "coefficient of the clover term"),
    Parameter("quarks.*", "clover", choice("linear", "exponential"), "linear", "",
              "form of the clover term: 1 + C, or exp(C)"),
    Parameter("quarks.*", "cF", MASS, 1.0, "", "coefficient of the improvement at open boundaries, or at walls"),
    Parameter("quarks.*", "theta", list_of(real("[-1, 1]"), length=4), (1.0, 0.0, 0.0, 0.0), "pi",
              "phases of quarks at the boundaries t, x, y, z; 1 is antiperiodic"),
    Parameter("quarks.*", "regulator", real("[0, 100]"), 0.0, "1/a",
              "twisted mass on odd sites of two equal quarks, that [reweighting.NAME] takes away"),
    Parameter("quarks.*", "masses", list_of(real("[0, 100]"), longest=8), (), "1/a",
              "ascending twisted masses of Hasenbusch's preconditioning of two equal quarks: each makes one more term"),
    Parameter("quarks.*", "kappas", list_of(KAPPA, longest=8), (), "",
              "the same in kappa, of heavier and heavier quarks; together with masses one for each"),
    Parameter("quarks.*", "ratio", boolean(), False, "",
              "whether to leave the determinant of the last of masses out, so that quarks of this mass are quenched"),
    Parameter("quarks.*", "range", list_of(real("[1e-12, 100]"), length=2), None, "",
              "smallest and largest eigenvalue of M^+ M on odd sites, with a margin for their fluctuations; "
              "needed but for two equal quarks; may be wider when a run continues"),
    Parameter("quarks.*", "poles", integer(2, 40), None, "",
              f"poles of the rational function for the inverse square root; {sea.POLES} if unset"),
    Parameter("quarks.*", "split", list_of(integer(1, 40)), (), "",
              "numbers of poles of the terms that the rational function is split into, the smallest poles first"),
    Parameter("quarks.*", "correction", boolean(), False, "",
              "whether to accept with the exact root in place of the rational function, so that an eigenvalue may "
              "leave the range; may be set when a run continues"),
    Parameter("quarks.*", "residual", RESIDUAL, 1e-11, "", "residual of solutions at the ends of trajectories"),
    Parameter("quarks.*", "force_residual", RESIDUAL, 1e-7, "", "residual of solutions for forces"),
    Parameter("quarks.*", "solver", choice(*SEA_METHODS), "cg", "",
              "method for the first term of two equal quarks; the others take cg"),
    aggregates.parameter("quarks.*"),
    Parameter("quarks.*", "precision", choice(*PRECISIONS), "single", "",
              "precision of most steps of two equal quarks"),
    Parameter("quarks.*", "history", integer(0, 20), 0, "",
              "number of solutions that the next one for a force of two equal quarks begins from; trajectories are "
              "then reversible to force_residual alone"),
    Parameter("updates", "algorithm", choice("heatbath", "hmc"), "heatbath", "",
              "algorithm of link updates; quarks need hmc"),
    Parameter("updates", "start", one_of("hot", one_of("cold", text())), "hot", "",
              "random links, or all one, or the file of a configuration: ILDG, SciDAC, NERSC, MILC, openQCD, "
              "HiRep, HDF5 or numpy"),
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
    Parameter("hmc", "scales", list_of(text(), longest=64), (), "",
              "terms of the time scales, the longest steps first: names of terms in one text for each scale, such as "
              '["light.1 strange", "light.2", "gauge"]; one scale for each term if empty, quarks in the order two '
              "equal ones, single ones, those of two masses"),
    Parameter("hmc", "steps", list_of(integer(1, 10000), 1), (10,), "",
              "steps of the time scales: of a trajectory, then within each move of the coarser scale"),
    Parameter("hmc", "integrator", list_of(choice(*INTEGRATORS), 1), ("2mn",), "",
              "integrator, one for each scale or one for all"),
    Parameter("hmc", "lambdas", list_of(real("[0.01, 0.49]"), 1), sea.LAMBDAS, "",
              f"weight lambda of {' and '.join(TUNABLE)}, one for each scale or one for all"),
    Parameter("hmc", "accept_from", integer(0, 10**8), 0, "trajectories",
              "number of first trajectories that are taken without a decision"),
    Parameter("hmc", "forces_every", integer(0, 10**8), 0, "trajectories",
              "distance of trajectories whose forces are recorded by term; 0: none"),
    Parameter("hmc", "reversibility_every", integer(0, 10**8), 0, "trajectories",
              "distance of trajectories that are integrated backwards too; 0: none"),
    Parameter("hmc", "eigenvalues_every", integer(0, 10**8), 0, "trajectories",
              "distance of trajectories at whose end the extreme eigenvalues of M^+ M are computed; 0: none"),
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
    FREE = RANGES | LENGTH | MONITORS
    INSTEAD = {
        **dict.fromkeys(RANGES, "a run can continue with a wider range, with as many poles or more, and with "
                        "correction"),
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
        if rectangle_coefficient(values["action"].gauge) and min(extents) < 4:
            raise InputError(f"{source}: lattice.extents = {shown(extents)} is not allowed with action.gauge = "
                             f'{shown(values["action"].gauge)}: rectangles need extents of at least 4')
        boundaries.check_lattice(values, source)
        measurement_tables.check(values, source)
        cls._check_walls(values, source)
        for name, q in values["quarks"].items():
            aggregates.check_aggregates(q, f"{source}: quarks.{name}", extents)
        sea.check_quarks(values["quarks"], values["lattice"].boundary, source)
        sea.check_reweighting(values["quarks"], values["reweighting"], source)
        if values["measure"].configurations:
            return
        if values["action"].beta is None:
            raise InputError(f"{source}: action.beta is missing: it is needed but with measure.configurations")
        cls._check_sea(values, source)

    @staticmethod
    def _check_walls(values: Mapping[str, Any], source: str) -> None:
        extents, walls, action = values["lattice"].extents, values["schroedinger"], values["action"]
        if values["lattice"].boundary != "schroedinger":
            for name in values["walls"]:
                raise InputError(f'{source}: [walls.{name}] is not allowed with lattice.boundary = '
                                 f'"{values["lattice"].boundary}": it is for "schroedinger"')
            for key in ("T", "field", "eta", "nu", "ct"):
                if getattr(walls, key) != SCHEMA.parameters[f"schroedinger.{key}"].default:
                    raise InputError(f"{source}: schroedinger.{key} = {shown(getattr(walls, key))} is not allowed with "
                                     f'lattice.boundary = "{values["lattice"].boundary}"')
            return
        here = ' is not allowed with lattice.boundary = "schroedinger": '
        if rectangle_coefficient(action.gauge):
            raise InputError(f"{source}: action.gauge = {shown(action.gauge)}{here}"
                             'it needs "wilson"')
        if len(set(extents[1:])) > 1 or extents[0] < 4:
            raise InputError(f"{source}: lattice.extents = {shown(extents)}{here}X, Y and Z are equal, "
                             "and the first is at least 4")
        if walls.T not in (None, extents[0] - 1, extents[0] - 2):
            raise InputError(f"{source}: schroedinger.T = {walls.T} is not allowed with lattice.extents = "
                             f"{shown(extents)}: it is {extents[0] - 1} or {extents[0] - 2}")
        if walls.field == "zero" and (walls.eta or walls.nu):
            raise InputError(f'{source}: schroedinger.field = "zero" is not allowed with eta or nu')
        if values["fixing"].gauge is not None:
            raise InputError(f'{source}: fixing.gauge = "{values["fixing"].gauge}"{here}it is for periodic lattices')
        for family, name, _ in measurement_tables.each(values):
            if family != "walls":
                raise InputError(f"{source}: [{family}.{name}]{here}it is for periodic lattices")
        if action.beta is None and walls.field == "coupling":
            raise InputError(f"{source}: action.beta is missing: it is needed for the coupling")

    @staticmethod
    def _check_sea(values: Mapping[str, Any], source: str) -> None:
        quarks, hmc, boundary = values["quarks"], values["hmc"], values["lattice"].boundary
        if values["updates"].algorithm == "heatbath":
            for name in quarks:
                raise InputError(f'{source}: [quarks.{name}] is not allowed with updates.algorithm = "heatbath": '
                                 'quarks need "hmc"')
            if boundary == "open":
                raise InputError(f'{source}: lattice.boundary = "open" is not allowed with updates.algorithm = '
                                 '"heatbath": it needs "hmc"')
            return
        if values["action"].cG != 1 and boundary != "open":
            raise InputError(f"{source}: action.cG = {values['action'].cG:g} is not allowed with lattice.boundary = "
                             '"periodic"')
        sea.check_scales(quarks, hmc, source)
        count = math.prod(moves(scale.integrator, scale.steps) for scale in sea.scales_of(quarks, hmc))
        if count > MOST_MOVES:
            raise InputError(f"{source}: hmc.steps = {shown(hmc.steps)} is not allowed: a trajectory moves links at "
                             f"most {MOST_MOVES} times")

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
        section, _, name = key.rpartition(".")
        if section.startswith("quarks."):
            table = section.partition(".")[2]
            if name not in ("range", "poles", "correction") or not (table in self.quarks and table in before.quarks):
                return False
            new, old = getattr(self.quarks[table], name), getattr(before.quarks[table], name)
            if name == "range":
                return None not in (new, old) and new[0] <= old[0] and old[1] <= new[1]
            return (new or sea.POLES) >= (old or sea.POLES) if name == "poles" else new >= old
        new, old = getattr(getattr(self, section), name), getattr(getattr(before, section), name)
        if key == "measure.configurations":
            return bool(new) == bool(old)
        return key == "updates.save_every" or key in MONITORS or key in LENGTH and new >= old
