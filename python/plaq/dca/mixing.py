"""How the next input of the self-consistency loop is chosen from earlier inputs and what came out of them."""

from __future__ import annotations

import numpy as np

DEPTH = 4  # earlier iterations that Anderson mixing looks at


def mixed(history, factor, method):
    """Next Sigma [K, w] from `history`, a list of (input, output), newest last.

    linear:   x + factor (f(x) - x)
    anderson: the linear step from the combination of the last inputs, weights adding up to 1, whose residual f(x) - x is
              smallest. Anderson, J. ACM 12, 547 (1965); Walker and Ni, SIAM J. Numer. Anal. 49, 1715 (2011).
    """
    inputs, outputs = (np.array(x) for x in zip(*history[-DEPTH if method == "anderson" else -1:]))
    if len(inputs) > 1:
        residuals = (outputs - inputs).reshape(len(inputs), -1)
        residuals = np.concatenate([residuals.real, residuals.imag], axis=1)
        steps = residuals[-1] - residuals[:-1]
        weights = np.linalg.lstsq(steps.T, residuals[-1], rcond=1e-6)[0]
        weights = np.append(weights, 1 - weights.sum())
        inputs, outputs = (np.tensordot(weights, x, axes=1)[None] for x in (inputs, outputs))
    return inputs[-1] + factor * (outputs[-1] - inputs[-1])
