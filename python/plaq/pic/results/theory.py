"""Linear theory to compare runs with.

Normalised: ω in ω_p, k in ω_p/c, temperatures in m_e c² unless stated.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np
import scipy


def plasma_dispersion(zeta: complex) -> complex:
    """Return Z(ζ) = π^(-1/2) ∫ e^(-s²)/(s - ζ) ds, continued analytically [Fried and Conte 1961]."""
    return 1j * math.sqrt(math.pi) * scipy.special.wofz(zeta)


def langmuir(k_debye: float, thermal: float = 0.0) -> complex:
    """Return ω/ω_p of the least damped electrostatic wave of Maxwellian electrons, at k λ_D.

    k² λ_D² + 1 + ζ Z(ζ) = 0 with ζ = ω/(√2 k v_th) [Landau 1946]. The imaginary part is the (negative) growth rate of
    the field.

    thermal : √(k_B T/m c²) of the momenta along k, where electrons near the wave's velocity are relativistic:
        1 + ∫ f'(u) / (k (ω - k v)) du = 0 with f normal in u = γ v, along a path below the pole.
        Those across k are at rest.
    """
    def slow(omega: complex) -> complex:
        zeta = omega / (math.sqrt(2) * k_debye)
        return k_debye**2 + 1 + zeta * plasma_dispersion(zeta)

    guess = math.sqrt(1 + 3 * k_debye**2)
    damping = math.sqrt(math.pi / 8) / k_debye**3 * math.exp(-0.5 / k_debye**2 - 1.5)
    omega = root(slow, complex(guess, -damping))
    # in small steps, so that Newton's method follows this root
    for part in np.linspace(0, thermal, 1 + math.ceil(thermal / 0.01))[1:]:
        omega = _relativistic(k_debye / part, part, omega)
    return omega


def _relativistic(k: float, thermal: float, near: complex) -> complex:
    v = min(0.7, 12 * thermal) * np.linspace(-1, 1, 4001) + 2j * near.imag / k  # beyond, f is negligible
    u = v / np.sqrt(1 - v * v)
    slope = -u / thermal**3 * np.exp(-u * u / (2 * thermal**2)) / math.sqrt(2 * math.pi) * (1 - v * v) ** -1.5
    return root(lambda omega: 1 + np.sum(slope / (omega - k * v)) * (v[1] - v[0]) / k, near)


def light(k: float) -> float:
    """Return ω of transverse waves in a cold plasma of density 1: ω² = 1 + k²."""
    return math.sqrt(1 + k * k)


def two_stream(k: float, u: float) -> complex:
    """Return ω of two cold beams of density 1/2 with momenta ±u along k.

    Γ³ = ½/(ω - kv)² + ½/(ω + kv)², Γ = √(1 + u²), v = u/Γ. It grows for kv < Γ^(-3/2),
    fastest at √(3/8) of that with γ = Γ^(-3/2)/√8 [Buneman 1958].
    """
    stiff = (1 + u * u) ** 0.75  # Γ^(3/2): the mass along the motion is Γ³
    square = (k * u / math.sqrt(1 + u * u) * stiff) ** 2
    return cmath.sqrt(square + 0.5 - 0.5 * math.sqrt(8 * square + 1)) / stiff


def filamentation(k: float, u: float) -> float:
    """Return the growth rate of the magnetic field of two cold beams of density 1/2 with momenta ±u, k across them.

    γ⁴ + γ² (k² + Γ⁻³) = k² β²/Γ, Γ = √(1 + u²), β = u/Γ [Weibel 1959, Fried 1959].
    """
    gamma = math.sqrt(1 + u * u)
    stiff, drive = k * k + gamma**-3, k * k * (u / gamma) ** 2 / gamma
    return math.sqrt((math.sqrt(stiff**2 + 4 * drive) - stiff) / 2)


def weibel(k: float, cold: float, hot: float) -> float:
    """Return the growth rate of the magnetic field of electrons with temperatures ``cold`` along k, ``hot`` across it.

    ω² - k² - 1 + (T_hot/T_cold)(1 + ζ Z(ζ)) = 0, ζ = ω/(k √(2 T_cold));
    grows for k² < T_hot/T_cold - 1 [Weibel 1959].
    """
    def relation(rate: complex) -> complex:
        zeta = 1j * rate / (k * math.sqrt(2 * cold))
        return -rate * rate - k * k - 1 + hot / cold * (1 + zeta * plasma_dispersion(zeta))

    low, high = 0.0, math.sqrt(hot)  # of the rate: the relation decreases through 0
    if relation(low).real <= 0:
        return 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if relation(middle).real > 0 else (low, middle)
    return low


def child_langmuir(voltage: float, gap: float) -> float:
    """Return the largest current density from a cold plate at rest to a plate at ``voltage``, in e n_0 c.

    ``voltage`` in m_e c²/e, at a distance ``gap``: J = (4/9) √2 V^(3/2)/d² in units where ε_0 = e = m_e = 1
    [Child 1911, Langmuir 1913]; for V ≪ 1.
    """
    return 4 / 9 * math.sqrt(2) * voltage**1.5 / gap**2


def mesh_wave_number(omega: float, dt: float, dx: float) -> float:
    """Return k of light along an axis of the mesh: sin(k dx/2)/dx = sin(ω dt/2)/dt.

    On Yee's mesh in one dimension, and with the smoothed stencil.
    """
    return 2 / dx * math.asin(dx / dt * math.sin(omega * dt / 2))


def relaxation(coupling: float, logarithm: float, mass_a: float, mass_b: float, cold: float, hot: float) -> float:
    """Return ν of dT_a/dt = ν (T_b - T_a) by collisions with a species of density 1, both of charge ±1, in ω_p.

    ν = (2/3) √(2/π) r L √(m_a m_b) / (m_a T_b + m_b T_a)^(3/2) with r = ω_p r_e/c,
    ``Units.coupling`` [Spitzer 1962].
    """
    return (2 / 3 * math.sqrt(2 / math.pi) * coupling * logarithm * math.sqrt(mass_a * mass_b)
            / (mass_a * hot + mass_b * cold) ** 1.5)


def root(relation: Callable[[complex], complex], guess: complex) -> complex:
    """Return a root by Newton's method with a derivative from differences."""
    for _ in range(100):
        value, step = relation(guess), 1e-7 * (1 + abs(guess))
        slope = (relation(guess + step) - relation(guess - step)) / (2 * step)
        change = value / slope
        guess -= change
        if abs(change) < 1e-14 * abs(guess):
            break
    return guess
