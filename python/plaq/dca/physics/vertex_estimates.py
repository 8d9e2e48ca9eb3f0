"""Estimates from the decomposition of the pairing vertex: contributions to eigenvalues, and d-wave projections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaq.data.estimate import Axis
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import functions_of
from plaq.dca.physics.lattice_response import has_d_wave
from plaq.dca.physics.two_particle import NEGATIVE, pair_bubbles, pairing, short_name
from plaq.dca.physics.vertex_parts import PARTS, Decomposition, Function, contribution, even, projection

WORDS = {"irreducible": "irreducible in every channel", "magnetic": "exchange of spin fluctuations",
         "charge": "exchange of charge fluctuations"}


class PartsEstimate:
    """Parts of the pairing vertex of a cluster in one sample after another.

    Eigenvalues of the irrep s, in which the bare interaction acts, have no parts: they converge slowly with the window.
    """

    def __init__(self, evaluation: Evaluation, window: int, needed: Sequence[Function]):
        model = evaluation.model
        self.cluster, self.needed = model.cluster, needed
        self.windows = list(dict.fromkeys((window, max(1, window // 2))))
        self.decompositions = [Decomposition(evaluation, w, [f for f in needed if f[2] < 2 * w]) for w in self.windows]
        self.projectors, blocks = irrep_projectors(model.cluster), irrep_blocks(model.cluster)
        self.blocks = {block: matrix for block, matrix in blocks.items() if "s" not in block.split("+")}
        momenta = model.cluster.momenta
        form = np.cos(momenta[:, 0]) - np.cos(momenta[:, 1])
        self.form = form if has_d_wave(model) and np.abs(form).max() > 1e-9 else None
        self.scale = evaluation.mesh.beta * model.cluster.size  # from Gamma to an interaction

    @property
    def irreps(self) -> list[str]:
        return [short_name(name) for block in self.blocks for name in block.split("+")]

    def values(self, evaluation: Evaluation, m: np.ndarray, g4: np.ndarray, *measured: np.ndarray
               ) -> dict[str, np.ndarray]:
        """Return contributions, projections and the vertex at the lowest frequency, of one sample.

        Names with _window are the change of numbers from half of the frequencies to all.
        """
        found = [self.in_window(decomposition, evaluation, m, g4, measured) for decomposition in self.decompositions]
        changes = {f"{name}_window": value - found[-1][name] for name, value in found[0].items() if not np.ndim(value)}
        beyond = self.decompositions[0].beyond_divergences(functions_of(evaluation, m), measured)
        beyond["irreducible"] = sum(beyond.values())
        counts = {f"{NEGATIVE}{name}": beyond[part] for part in beyond for name in found[0] if name.endswith(part)}
        return found[0] | changes | counts

    def in_window(self, decomposition: Decomposition, evaluation: Evaluation, m: np.ndarray, g4: np.ndarray,
                  measured: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the same from the frequencies of one window."""
        w, most = decomposition.window, g4.shape[1]
        inner = slice(most - w, most + w)
        g4 = g4[:, :w, :, inner]
        kept = [f[:, inner, :, inner] for which, f in zip(self.needed, measured, strict=True) if which[2] < 2 * w]
        parts = decomposition(functions_of(evaluation, m), g4, kept)
        found = pairing(evaluation, m, self.projectors, self.blocks, g4)
        _, chi0 = pair_bubbles(evaluation, m, w)
        values = {f"lambda_{irrep}_{name}": contribution(parts[name], found[f"eigenvector_{irrep}"], chi0)
                  for irrep in self.irreps for name in PARTS}
        for name, part in parts.items():
            tail = "" if name == "total" else f"_{name}"
            values[f"vertex_pp{tail}"] = self.scale * even(part)[:, 0, :, 0] / 2
            if self.form is not None:
                values[f"vertex_d{tail}"] = self.scale * projection(part, self.form)
        return values

    def labels(self) -> dict[str, dict]:
        """Return axes, unit and convention of these by name."""
        K = np.array(self.cluster.momenta)
        axes = [Axis("K", K, "1/a"), Axis("K'", K, "1/a")]
        labels = {f"lambda_{irrep}_{name}": {"convention": f"part of lambda_{irrep}: {WORDS[name]}"}
                  for irrep in self.irreps for name in PARTS}
        for name in ("total", *PARTS):
            tail = "" if name == "total" else f"_{name}"
            of = "" if name == "total" else f", part {WORDS[name]}"
            labels[f"vertex_pp{tail}"] = {
                "axes": axes, "unit": "t", "convention": "beta N_c Gamma_pp(K, pi T; K', w'), mean of w' = +-pi T; "
                f"attraction is positive{of}"}
            if self.form is not None:
                labels[f"vertex_d{tail}"] = {
                    "unit": "t", "convention": f"<f|vertex_pp|f>/<f|f> with f = cos K_x - cos K_y{of}"}
        changes = {f"{name}_window": {**label, "convention": f"change of {name} from half of the frequencies to all"}
                   for name, label in labels.items() if "axes" not in label}
        return labels | changes
