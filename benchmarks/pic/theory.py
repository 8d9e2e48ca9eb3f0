"""python theory.py [NAME ...]: long runs of `plaq pic` against theory, one line each: what, measured, theory,
difference.

Names: landau, beams, drift, energy, gauss, cherenkov; without one all of them, some minutes on one core. Short
ones are in tests/pic/test_pic_physics.py.
"""

import math
import sys
import time

import numpy as np
from scipy.optimize import curve_fit

from plaq import pic

ELECTRONS = {"charge": -1, "mass": 1, "placed": "even"}


def run(end, length, cells, species, **more):
    more = {"output": {"pictures": 0}, "run": {"workers": 1}, **more}
    return pic.run(pic.Parameters(grid={"cells": [cells], "length": [length]},
                                  time={"end": end, **more.pop("time", {})},
                                  species=species, **more))


def line(field):
    return {"line": {"field": field, "at": [0], "along": "x"}}


def wave(results):
    """(times, complex amplitude of the longest wave of the box)."""
    one = results["line"]
    return one.axis("time"), np.fft.rfft(one.values, axis=1)[:, 1] * 2 / one.values.shape[1]


def say(what, measured, theory, started):
    off, took = 100 * (measured / theory - 1), time.time() - started
    print(f"{what:<64} {measured:>12.5g} {theory:>12.5g} {off:>+8.2f} %   {took:5.0f} s", flush=True)


def landau():
    """Electrostatic waves in one dimension, by Maxwell's equations and by Poisson's. Electrons are beams, 101 from -6
    to 6 thermal velocities, since hardly any of a Maxwellian would be as fast as the wave; they are in step again after
    t = 2π/(k Δv), 104 and more. The wave is so weak that it traps no particles: √0.0001 is below the rate."""
    beam = np.linspace(-6, 6, 101)
    share = np.exp(-beam * beam / 2) / np.sum(np.exp(-beam * beam / 2))
    for solver, thermal in (("electromagnetic", 0.1), ("electrostatic", 0.01)):
        for k_debye, begin, end in ((0.3, 10, 50), (0.4, 6, 24), (0.5, 5, 16)):
            started, length = time.time(), 2 * math.pi * thermal / k_debye
            electrons = {f"beam_{i}": {
                **ELECTRONS, "density": f"{share[i]:.17g}*(1 + 0.0001*cos(2*pi*x/{length}))", "per_cell": 4,
                "drift": [thermal * float(beam[i]), 0, 0]} for i in range(len(beam))}
            step = {"step": 0.02} if solver == "electrostatic" else {}
            found = run(end, length, 64, electrons, time=step, probe=line("ex"), solver={"order": 2},
                        fields={"of_charges": solver == "electromagnetic", "solver": solver})
            times, amplitude = wave(found)
            theory = pic.theory.langmuir(k_debye, thermal)
            rate = damped(times[times > begin], amplitude.imag[times > begin], theory).imag
            say(f"Landau damping, k λ_D = {k_debye}, v_th = {thermal}, {solver}", rate, theory.imag, started)


def damped(times, values, guess):
    """ω of Re(A e^(-iωt)), by least squares."""
    model = lambda t, a, b, omega, rate: np.exp(rate * t) * (a * np.cos(omega * t) + b * np.sin(omega * t))
    found = curve_fit(model, times, values, [values.max(), 0, guess.real, guess.imag])[0]
    return complex(found[2], found[3])


def beams():
    """Instabilities of cold and of anisotropic plasmas."""
    for u in (0.05, 0.2, 1.0):
        started, length = time.time(), 2 * math.pi * u * (1 + u * u) ** 0.25 / math.sqrt(3 / 8)
        beam = {**ELECTRONS, "per_cell": 64}
        density, end = f"0.5*(1 + 1e-5*cos(2*pi*x/{length}))", 26 * (1 + u * u) ** 0.75
        found = run(end, length, 96, {"right": {**beam, "density": density, "drift": [u, 0, 0]},
                                      "left": {**beam, "density": 0.5, "drift": [-u, 0, 0]}},
                    fields={"of_charges": True}, probe=line("ex"))
        times, amplitude = wave(found)
        rate = pic.growth_rate(times, np.abs(amplitude) ** 2, 0.5 * end, 0.9 * end)
        say(f"two streams, u = {u}", rate, pic.theory.two_stream(2 * math.pi / length, u).imag, started)
    for u, k in ((0.2, 2.0), (0.5, 1.0), (0.5, 4.0)):
        started, length, rate = time.time(), 2 * math.pi / k, pic.theory.filamentation(k, u)
        beam, end = {**ELECTRONS, "density": 0.5, "per_cell": 32}, 10 / rate
        found = run(end, length, 64, {"up": {**beam, "drift": [0, u, 0]}, "down": {**beam, "drift": [0, -u, 0]}},
                    fields={"b": [0, 0, f"1e-7*cos({k}*x)"]}, probe=line("bz"))
        times, amplitude = wave(found)
        say(f"filaments of beams, u = {u}, k = {k}", pic.growth_rate(times, np.abs(amplitude) ** 2, 0.5 * end, end),
            rate, started)
    for ratio in (9, 16):
        started, k, hot = time.time(), 1.5, 0.0025
        found = run(180, 2 * math.pi / k, 48, {"e": {**ELECTRONS, "density": 1, "per_cell": 3000, "placed": "quiet",
                                                     "temperature": [hot / ratio, hot, 0]}},
                    fields={"b": [0, 0, f"1e-5*cos({k}*x)"]}, probe=line("bz"), solver={"order": 2})
        times, amplitude = wave(found)
        say(f"Weibel, k = {k}, {ratio} times as hot across k", pic.growth_rate(times, np.abs(amplitude) ** 2, 100, 170),
            pic.theory.weibel(k, hot / ratio, hot), started)


def drift():
    """E × B for a million steps: the extremes of the circle, so that nothing has been won or lost."""
    v = 0.3
    gamma = 1 / math.sqrt(1 - v * v)
    for pusher in ("boris", "vay", "higuera_cary"):
        started = time.time()
        found = run(2e5, 12, 57, {"e": {**ELECTRONS, "density": 1e-14, "per_cell": 1, "pusher": pusher}},
                    time={"step": 0.2},
                    fields={"e": [0, v, 0], "b": [0, 0, 1]}, output={"pictures": 0, "gauss": False})
        u = found["e.px"].values / found["e.weight"].values
        say(f"E x B, {pusher}, u_x over 10⁶ steps: largest", u.max(), 2 * gamma**2 * v, started)
        say(f"E x B, {pusher}, largest in the last 10⁴ steps", u[-10000:].max(), u[:10000].max(), started)


def energy():
    """A warm plasma in two dimensions whose mesh resolves the Debye length, 64 particles in each of 32 x 32 cells, for
    500 /ω_p: the change of the total energy, by Maxwell's equations and by Poisson's."""
    for solver in ("electromagnetic", "electrostatic"):
        for order in (1, 2, 3):
            started = time.time()
            found = pic.run(pic.Parameters(
                grid={"cells": [32, 32], "length": [3.2, 3.2]}, time={"end": 500}, run={"workers": 1},
                output={"pictures": 0, "gauss": False}, fields={"solver": solver}, solver={"order": order},
                species={"e": {**ELECTRONS, "density": 1, "per_cell": 64, "placed": "random", "temperature": 0.01}}))
            total = (found.field_energy + found.kinetic_energy)[:-1]
            print(f"energy of a warm plasma, {solver}, order {order}: changed by "
                  f"{100 * (total[-1] / total[0] - 1):+.3f} % in {len(total)} steps   {time.time() - started:.0f} s",
                  flush=True)


def cherenkov():
    """A pair plasma of γβ = 10 in a periodic box for 40 /ω_p: the energy that numerical Cherenkov radiation takes, by
    stencil and passes of the filter. A plasma that moves as one loses none."""
    for stencil in ("yee", "cowan", "lehe"):
        for passes, compensated in ((0, False), (1, False), (4, True)):
            started, moving = time.time(), {"mass": 1, "density": 0.5, "per_cell": 4, "drift": [10, 0, 0],
                                            "temperature": 1e-4}
            found = pic.run(pic.Parameters(
                grid={"cells": [64, 64], "length": [12.8, 12.8]}, time={"end": 40}, run={"workers": 1},
                output={"pictures": 0, "gauss": False},
                fields={"stencil": stencil, "filter_passes": passes, "filter_compensation": compensated},
                species={"e": {"charge": -1, **moving}, "p": {"charge": 1, "like": "e", **moving}}))
            kinetic = found.kinetic_energy
            print(f"moving pair plasma, {stencil}, {passes} passes{', compensated' * compensated}: energy changed by "
                  f"{100 * (kinetic[-1] / kinetic[0] - 1):+.3f} %   {time.time() - started:.0f} s", flush=True)


def gauss():
    """A warm plasma in two dimensions for 10⁵ steps."""
    started = time.time()
    found = pic.run(pic.Parameters(
        grid={"cells": [16, 16], "length": [4, 4]}, time={"end": 1.67e4}, run={"workers": 1}, output={"pictures": 0},
        species={"e": {**ELECTRONS, "density": 1, "per_cell": 9, "placed": "random", "temperature": 0.01}}))
    energy = (found.field_energy + found.kinetic_energy)[:-1]
    print(f"Gauss residual over {len(energy)} steps: at most {np.nanmax(found['gauss'].values):.2g} e n_0; "
          f"energy changed by {100 * (energy[-1] / energy[0] - 1):+.3g} %   {time.time() - started:.0f} s")


KNOWN = {"landau": landau, "beams": beams, "drift": drift, "energy": energy, "gauss": gauss, "cherenkov": cherenkov}
for name in sys.argv[1:] or KNOWN:
    KNOWN[name]()
