"""Spectra of probes: ω(k) of a line, the frequency at a point."""

from __future__ import annotations

import numpy as np

from plaq.data.recorded import Recorded


def dispersion(line: Recorded) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (k [K], ω [W], power [W, K]) of a probe along a periodic line.

    The power is |FFT|² in space and, with a Hann window, in time.
    k ≥ 0 in ω_p/c, ω ≥ 0 in ω_p; both directions of k are added.
    """
    values = line.values - line.values.mean()
    times, positions = line.axis("time"), line.axes[1].at(0)
    dt, dx = (times[-1] - times[0]) / max(1, len(times) - 1), positions[1] - positions[0]
    window = np.hanning(len(times) + 2)[1:-1]
    # of real values: ω ≥ 0, both signs of k
    transformed = np.fft.fft(np.fft.rfft(values * window[:, None], axis=0), axis=1)
    power = np.abs(transformed) ** 2
    count = len(positions)
    half = count // 2 + 1
    both = power[:, :half].copy()
    mirrored = power[:, -np.arange(half)]
    both[:, 1 : (count + 1) // 2] += mirrored[:, 1 : (count + 1) // 2]
    return 2 * np.pi * np.arange(half) / (count * dx), 2 * np.pi * np.fft.rfftfreq(len(times), dt), both


def peak(omega: np.ndarray, power: np.ndarray) -> float:
    """Return the frequency of the largest power, by a parabola through the logarithms of three points."""
    at = int(np.argmax(power[1:-1])) + 1
    low, middle, high = np.log(np.maximum(power[at - 1 : at + 2], 1e-300))
    curvature = low - 2 * middle + high
    shift = 0.0 if curvature == 0 else 0.5 * (low - high) / curvature
    return float(omega[at] + shift * (omega[1] - omega[0]))


def growth_rate(times: np.ndarray, energy: np.ndarray, begin: float, end: float) -> float:
    """Return γ of a field whose energy grows like e^(2γt), by a linear fit of its logarithm between two times."""
    inside = (times >= begin) & (times <= end)
    return float(np.polyfit(times[inside], np.log(energy[inside]), 1)[0] / 2)
