"""Classes of the PICMI standard (picmistandard 0.35 or later, ``pip install picmistandard``) for plaq.

    from plaq.pic import picmi        # or: from pywarpx import picmi

    grid = picmi.Cartesian1DGrid(nx=128, xmin=0, xmax=1e-4, bc_xmin="periodic", bc_xmax="periodic")
    ...
    simulation.step()

A deck has axes and units of the standard as WarpX reads them: z in one dimension, x and z in two. Of plaq's axes x is z
of the deck, y is x, and z is y. Classes that plaq has not are refused by name, and so are arguments.
"""

from __future__ import annotations

from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.units import ELECTRON_MASS, ELEMENTARY_CHARGE, SPEED_OF_LIGHT, VACUUM_PERMITTIVITY

try:
    import picmistandard
except ImportError:
    raise InputError("plaq.pic.picmi needs the package picmistandard: pip install picmistandard") from None
if not hasattr(picmistandard, "PICMI_AnySolver"):
    raise InputError(f"plaq.pic.picmi needs picmistandard 0.35 or later, not {picmistandard.__version__}")


class constants:
    """Constants in SI units, CODATA 2022."""

    c, ep0, q_e, m_e = SPEED_OF_LIGHT, VACUUM_PERMITTIVITY, ELEMENTARY_CHARGE, ELECTRON_MASS
    mu0, m_p = 1 / (VACUUM_PERMITTIVITY * SPEED_OF_LIGHT**2), 1.67262192595e-27


codename = "plaq"
picmistandard.register_codename(codename)
picmistandard.register_constants(constants)

from plaq.pic.picmi.simulation import Simulation  # noqa: E402  its base class has the code's name by now

SUPPORTED = ("Cartesian1DGrid", "Cartesian2DGrid", "Cartesian3DGrid", "BinomialSmoother", "ElectromagneticSolver",
             "ElectrostaticSolver", "Species", "UniformDistribution", "AnalyticDistribution",
             "ParticleListDistribution", "GaussianBunchDistribution", "GriddedLayout", "PseudoRandomLayout",
             "GaussianLaser", "LaserAntenna", "ConstantAppliedField", "AnalyticAppliedField", "FieldDiagnostic",
             "ElectrostaticFieldDiagnostic", "ParticleDiagnostic")
__all__ = ["Simulation", "codename", "constants", *SUPPORTED]


def __getattr__(name: str) -> Any:
    if name in SUPPORTED:
        return getattr(picmistandard, f"PICMI_{name}")
    if hasattr(picmistandard, f"PICMI_{name}"):
        raise InputError(f"picmi.{name}: plaq has no such class; it has {', '.join(SUPPORTED)} and Simulation")
    raise AttributeError(f"module plaq.pic.picmi has no attribute {name}")
