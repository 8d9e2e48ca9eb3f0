"""Names of gauge actions, integrators and solvers in inputs, and kinds of numbers, without the kernels."""

from plaq.inputs.kinds import real

# Ranges in which quotients and their squares are finite.
KAPPA, MASS, RESIDUAL = real("[1e-6, 1)"), real("[-100, 100]"), real("[1e-16, 1)")

RECTANGLES = {"wilson": 0.0, "symanzik": -1 / 12, "iwasaki": -0.331, "dbw2": -1.4088}
"""{action: c1}: Wilson's; tree-level improved (Luescher and Weisz, Phys. Lett. B 158, 250 (1985)); Iwasaki's
(Nucl. Phys. B 258, 141 (1985)); DBW2 (Takaishi, Phys. Rev. D 54, 1050 (1996))."""

_LAMBDA = 0.1931833275037836
_THETA, _RHO = 0.08398315262876693, 0.6822365335719091  # kicks
_XI, _CHI = 0.2539785108410595, -0.03230286765269967  # moves

INTEGRATORS = {
    "2mn": ((_LAMBDA, 1 - 2 * _LAMBDA, _LAMBDA), (0.5, 0.5)),
    "omf4": ((_THETA, _RHO, 0.5 - _THETA - _RHO, 0.5 - _THETA - _RHO, _RHO, _THETA),
             (_XI, _CHI, 1 - 2 * (_XI + _CHI), _CHI, _XI)),
}
"""{name: (kicks, moves)}: a step is kick, move, kick ... kick, in parts of its length."""

METHODS = ("cg", "bicgstab", "multigrid")
PRECISIONS = ("double", "single", "half")
FLOWS = ("wilson", "symanzik", "zeuthen")
"""Gradient flows: of Wilson's action; of Luescher and Weisz' with c1 = -1/12; that of Ramos and Sint,
arXiv:1508.05552, whose energies have no errors of order a^2 from the integration of the flow."""

GAUGES = ("landau", "coulomb")
"""Gauges by the direction from which links count."""
