"""Names of gauge actions and solvers in inputs, and kinds of numbers, without the kernels."""

from plaq.inputs.kinds import real

# Ranges in which quotients and their squares are finite.
KAPPA, MASS, RESIDUAL = real("[1e-6, 1)"), real("[-100, 100]"), real("[1e-16, 1)")

RECTANGLES = {"wilson": 0.0, "symanzik": -1 / 12, "iwasaki": -0.331, "dbw2": -1.4088}
"""{action: c1}: Wilson's; tree-level improved (Luescher and Weisz, Phys. Lett. B 158, 250 (1985)); Iwasaki's
(Nucl. Phys. B 258, 141 (1985)); DBW2 (Takaishi, Phys. Rev. D 54, 1050 (1996))."""


def rectangle_coefficient(gauge: str | float) -> float:
    """Return c1 of a gauge action of an input: a name, or the number itself."""
    return RECTANGLES[gauge] if isinstance(gauge, str) else gauge


METHODS = ("cg", "bicgstab", "gcr", "multigrid")
SEA_METHODS = ("cg", "multigrid")  # for forces
PRECISIONS = ("double", "single", "half")
FLOWS = ("wilson", "symanzik", "zeuthen")
"""Gradient flows: of Wilson's action; of Luescher and Weisz' with c1 = -1/12; that of Ramos and Sint,
arXiv:1508.05552, whose energies have no errors of order a^2 from the integration of the flow."""

GAUGES = ("landau", "coulomb")
"""Gauges by the direction from which links count."""
