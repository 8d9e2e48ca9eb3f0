"""Units: normalised to ω_p and c, or SI, which is converted when an input is read.

With n_0 the reference density, ω_p = √(n_0 e²/(ε_0 m_e)). Normalised: time in 1/ω_p, length in c/ω_p, density in
n_0, u = γβ, temperature k_B T in m_e c², E in m_e c ω_p/e, B in m_e ω_p/e, energy in n_0 m_e c² (c/ω_p)^D for D
dimensions. SI: s, m, m⁻³, u = γβ, k_B T in eV, V/m, T. Charges are in e, masses in m_e in either.

Constants: CODATA 2022 (Mohr, Newell, Taylor, Tiesinga, NIST 2024); c, e are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SPEED_OF_LIGHT = 299792458.0  # m/s
ELEMENTARY_CHARGE = 1.602176634e-19  # C
ELECTRON_MASS = 9.1093837139e-31  # kg
VACUUM_PERMITTIVITY = 8.8541878188e-12  # F/m
HARTREE, ATOMIC_FIELD, ATOMIC_TIME = 27.211386245981, 5.14220675112e11, 2.4188843265864e-17  # eV, V/m, s
PLANCK = 6.62607015e-34  # J s
ELECTRON_REST_ENERGY = ELECTRON_MASS * SPEED_OF_LIGHT**2 / ELEMENTARY_CHARGE  # eV

NORMALISED = {"time": "1/ω_p", "length": "c/ω_p", "density": "n_0", "temperature": "m_e c²", "E": "m_e c ω_p/e",
              "B": "m_e ω_p/e", "flux": "n_0 c", "u": "γβ", "potential": "m_e c²/e",
              "cross section": "ω_p/(n_0 c)", "rate coefficient": "ω_p/n_0", "": ""}
SI = {"time": "s", "length": "m", "density": "1/m³", "temperature": "eV", "E": "V/m", "B": "T",
      "flux": "1/(m² s)", "u": "γβ", "potential": "V", "cross section": "m²", "rate coefficient": "m³/s", "": ""}


@dataclass(frozen=True)
class Units:
    """Units of an input: ``system`` is "normalised" or "SI"; ``density`` is n_0 in 1/m³, or None."""

    system: str = "normalised"
    density: float | None = None

    @property
    def omega_p(self) -> float | None:
        """Plasma frequency in 1/s; None where n_0 is not known."""
        if self.density is None:
            return None
        return math.sqrt(self.density * ELEMENTARY_CHARGE**2 / (VACUUM_PERMITTIVITY * ELECTRON_MASS))

    def in_si(self, quantity: str) -> float:
        """Return the normalised unit of a quantity in its SI unit; 1 where n_0 is not known."""
        if (omega := self.omega_p) is None:
            return 1.0
        field = ELECTRON_MASS * SPEED_OF_LIGHT * omega / ELEMENTARY_CHARGE
        return {"time": 1 / omega, "length": SPEED_OF_LIGHT / omega, "density": self.density,
                "temperature": ELECTRON_REST_ENERGY, "E": field, "B": field / SPEED_OF_LIGHT,
                "flux": self.density * SPEED_OF_LIGHT, "u": 1.0, "potential": ELECTRON_REST_ENERGY,
                "cross section": omega / (self.density * SPEED_OF_LIGHT),
                "rate coefficient": omega / self.density, "": 1.0}[quantity]

    def coupling(self) -> float:
        """Return ω_p r_e/c, the factor of collision rates in units of ω_p.

        r_e = e²/(4π ε_0 m_e c²) is the classical electron radius.
        """
        radius = ELEMENTARY_CHARGE**2 / (4 * math.pi * VACUUM_PERMITTIVITY * ELECTRON_MASS * SPEED_OF_LIGHT**2)
        return self.omega_p * radius / SPEED_OF_LIGHT

    def density_scale(self) -> float:
        """Return n_0^(1/3) c/ω_p, the number of particles along a unit of length."""
        return self.density ** (1 / 3) * SPEED_OF_LIGHT / self.omega_p

    def of(self, quantity: str) -> float:
        """Return the input's unit of a quantity in normalised units."""
        return 1.0 if self.system == "normalised" else 1.0 / self.in_si(quantity)

    def name(self, quantity: str) -> str:
        """Return the name of the input's unit."""
        return (NORMALISED if self.system == "normalised" else SI)[quantity]

    def describe(self) -> str:
        if self.density is None:
            return "normalised to ω_p and c"
        plasma = (f"n_0 = {self.density:.6g} 1/m³: ω_p = {self.omega_p:.6g} 1/s, "
                  f"c/ω_p = {self.in_si('length'):.6g} m, m_e c ω_p/e = {self.in_si('E'):.6g} V/m")
        return (f"input in SI, converted with {plasma}" if self.system == "SI"
                else f"normalised to ω_p and c; {plasma}")
