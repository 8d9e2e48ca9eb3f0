"""Parameters of ``plaq dca``: the frozen object that a run carries, with what follows from its input."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from plaq.dca.inputs.checks import check, refusal, transfers, wanted_channels
from plaq.dca.inputs.table import SCHEMA, WARM_UP, WARM_UP_EXCHANGE
from plaq.dca.lattice.hamiltonian import Hamiltonian
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.lattice.ready import READY
from plaq.dca.lattice.table_of_states import BETHE, read_states
from plaq.dca.lattice.wannier import read_hopping
from plaq.dca.units import unit_of
from plaq.inputs import parameters
from plaq.inputs.parameters import with_key

PROGRAM = "plaq dca"  # its name in logs and files

MEASUREMENTS = ("solver.measurements", "solver.measurements_first", "two_particle.measurements")


class Parameters(parameters.Parameters):
    """Parameters of one run, checked and frozen: ``p.model.U``, ``p.dca.temperatures``, ``p.solver.chains``.

        Parameters(model={"U": 6}, dca={"temperatures": [1, 0.5], "density": 0.95})
    """

    SCHEMA = SCHEMA
    INSTEAD = {
        "dca.temperatures": "a run resumes with temperatures that are added after its last one",
        "dca.start": "a run that has begun resumes from its own copy of its start: leave --from out",
        "solver.measurements": "a finished run resumes with more measurements, never with fewer of a kind",
        "two_particle.measurements": "a finished run resumes with more measurements, never with fewer of a kind",
    }

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        check(values, source)

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        model, solver, pairs = (values[name] for name in ("model", "solver", "two_particle"))
        if model.lattice == "square":  # one input, one fingerprint
            sections = with_key(sections, "model", "lattice", None)
        if model.hopping_file is not None:  # a run has its hops, and needs the file no more
            hops = read_hopping(model.hopping_file, len(model.cluster), model.hopping_cutoff or 0.0)
            hopping = {d: m if len(m) > 1 else m[0][0] for d, m in hops.items()}
            for key, value in {"hopping": hopping, "hopping_file": None, "hopping_cutoff": None}.items():
                sections = with_key(sections, "model", key, value)
        hamiltonian = read_hamiltonian(model, refusal(""), values["order"])
        if isinstance(model.density_of_states, str) and model.density_of_states != BETHE:
            sections = with_key(sections, "model", "density_of_states", read_states(model.density_of_states))
        if len(hamiltonian.orbitals) == 1 and not isinstance(model.U, float):  # by the name of the only orbital
            sections = with_key(sections, "model", "U", model.U[0][1])
        if solver.kind == "auto":
            sections = with_key(sections, "solver", "kind", "ctint" if hamiltonian.is_general else "ctaux")
        if pairs.channels == "auto":
            sections = with_key(sections, "two_particle", "channels", wanted_channels(solver, pairs, hamiltonian))
        if solver.warmup == "auto":
            exchanges = hamiltonian.interaction.exchanges
            sections = with_key(sections, "solver", "warmup", WARM_UP_EXCHANGE if exchanges else WARM_UP)
        if solver.measurements_first == "auto":
            first = max(solver.bins, solver.chains, solver.measurements // 20)
            sections = with_key(sections, "solver", "measurements_first", min(first, solver.measurements))
        if pairs.measurements == "auto":
            sections = with_key(sections, "two_particle", "measurements", solver.measurements)
        if pairs.transfers == "auto":
            sections = with_key(sections, "two_particle", "transfers", transfers(hamiltonian, values["dca"], pairs))
        if pairs.frequencies == "auto" and pairs.omega_max is None:
            sections = with_key(sections, "two_particle", "frequencies", 16)
        return sections

    def fingerprints(self) -> list[str]:
        """Return the fingerprints of the inputs that this one may resume: its own, and with fewer temperatures."""
        T = self.dca.temperatures
        return [self.replace(dca={"temperatures": list(T[:n])}).fingerprint() for n in range(len(T), 0, -1)]

    def family(self) -> str:
        """Return the hash of everything that determines the results of a temperature, except its measurements."""
        standard = {"measurements": 2 * 10**9, "measurements_first": "auto"}
        return self.replace(dca={"temperatures": [1.0]}, solver=standard,
                            two_particle={"measurements": "auto"}).fingerprint()

    def asked(self) -> tuple[int, int]:
        """Return the numbers of measurements without and with two-particle functions."""
        return self.solver.measurements, self.two_particle.measurements

    def may_grow(self, key: str, before: Parameters) -> bool:
        """Return whether ``key`` may differ from ``before``: by temperatures at the end, or by more measurements."""
        if key == "dca.temperatures":
            return self.dca.temperatures[:len(before.dca.temperatures)] == before.dca.temperatures
        more = self.asked() != before.asked() and all(a >= b for a, b in zip(self.asked(), before.asked()))
        return more and key in MEASUREMENTS

    @cached_property
    def hamiltonian(self) -> Hamiltonian:
        """H of the section [model], of every kind."""
        return read_hamiltonian(self.model, refusal("Parameters"), self.order)

    @cached_property
    def is_general(self) -> bool:
        """Whether functions have spins and orbitals, [S, K, a, b, w], rather than [K, w] of one band."""
        return self.solver.kind == "ctint" or self.hamiltonian.is_general

    def hopping(self) -> dict[tuple[int, ...], Any]:
        """Return the hopping as `plaq.dca.lattice.hopping.Lattice` takes it, with both signs of every displacement.

        One band has ``{(dx, dy): amplitude}``; the amplitude enters H with its sign.
        """
        model = self.model
        if model.lattice is None and not self.hamiltonian.is_general:
            return hopping_table(model)
        return self.hamiltonian.table

    @property
    def unit(self) -> str:
        """Unit of energies: ``t``, or nothing (plaq.dca.units)."""
        model = self.model
        if isinstance(model.density_of_states, tuple):
            return ""
        if not self.hamiltonian.is_general:
            return unit_of(self.hopping())
        known = READY[model.lattice or "square"].amplitudes if model.hopping is None else ()
        return "t" if model.t == 1 and "t" in known else ""

    def measurements(self, temperature: float) -> tuple[int, int]:
        """Return the measurements at this temperature: of each of the first iterations, and of the final ones together.
        """
        solver = self.solver
        last = self.two_particle.measurements if self.measures_two_particle(temperature) else solver.measurements
        return max(solver.bins, solver.chains, solver.measurements_first * last // solver.measurements), last

    def measures_two_particle(self, temperature: float) -> bool:
        """Return whether two-particle functions are measured at this temperature."""
        return bool(self.two_particle.channels) and temperature <= self.two_particle.below


def hopping_table(model: Any) -> dict[tuple[int, int], float]:
    """Return ``{(dx, dy): amplitude}`` of one band, square or with a table of its own, in the order of its sums."""
    if model.hopping is not None:
        return {(s * dx, s * dy): amplitude for dx, dy, amplitude in model.hopping for s in (1, -1)}
    near = {d: -model.t for d in [(1, 0), (-1, 0), (0, 1), (0, -1)]}
    diagonal = {(x, y): -model.t_prime for x in (1, -1) for y in (1, -1)}
    return near | diagonal if model.t_prime else near
