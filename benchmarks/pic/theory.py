"""python theory.py [NAME ...]: long runs of `plaq pic` against theory, one line each: what, measured, theory,
difference.

Names: landau, beams, drift, energy, gauss, cherenkov, secondaries, breakdown, skin; without one all of them, some
minutes on one core. Short ones are in tests/pic/test_pic_physics.py.
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


def secondaries():
    """A plate and secondary electrons between two sides, without fields: 0.6 for each that arrives. The fluxes are
    geometric series, 1/(1 - 0.36) and 0.6 of it."""
    started, delta = time.time(), 0.6
    electrons = {"charge": -1, "mass": 1, "test": True}
    found = run(4000, 1, 16, {"e": electrons}, time={"step": 1.0}, fields={"solver": "electrostatic"},
                boundaries={"x": "conducting"}, output={"pictures": 0, "gauss": False},
                emission={"plate": {"species": "e", "at": [0], "normal": [1], "flux": 1e-3, "per_cell": 1000,
                                    "temperature": 1e-3}},
                secondary={"s": {"by": "e", "emits": "e", "coefficient": delta, "temperature": 1e-3}})
    for side, series in (("high", 1 / (1 - delta**2)), ("low", delta / (1 - delta**2))):
        arrived = found[f"e.left_weight_x{side}"].values[2000:].sum()
        say(f"secondary electrons between two sides, flux at x {side}", arrived / (1e-3 * 2000), series, started)


def breakdown():
    """Townsend's criterion: electrons of a cathode ionise a gas, in 1 cm at 150 V and 300 Td, and each ion emits γ
    electrons there. The flux at the anode is M/(1 - γ (M - 1)) times that of the cathode's own, M being that without
    secondary electrons; above γ = 1/(M - 1) it grows in time."""
    columns = "COLUMNS: Energy (eV) | Cross section (m2)\n-----\n"
    gas = (f"ELASTIC\nX\n 1.371e-4\n{columns}0 1e-20\n1e4 1e-20\n-----\n\n"
           f"IONIZATION\nX -> X^+\n 24.6\n{columns}0 0\n24.6 0\n40 8e-21\n1e4 8e-21\n-----\n")
    light = {"mass": 2, "test": True}  # ions that cross the gap in 5 ns

    def at_anode(gamma):
        found = pic.run(pic.Parameters(
            units={"system": "SI", "density": 1e12}, grid={"cells": [64], "length": [0.01]},
            time={"end": 8e-8, "step": 1e-11}, fields={"solver": "electrostatic"},
            boundaries={"x": "conducting", "potential_x": [0, 150]}, output={"pictures": 0, "gauss": False},
            species={"e": {"charge": -1, "mass": 1, "test": True}, "i": {"charge": 1, **light}},
            emission={"cathode": {"species": "e", "at": [0], "normal": [1], "flux": 1e17, "per_cell": 150,
                                  "temperature": 0.5}},
            gas={"x": {"density": 5e22, "mass": 7294}}, run={"workers": 1},
            scattering={"e": {"species": "e", "gas": "x", "cross_sections": gas, "electrons": "e", "ions": "i"}},
            secondary={"s": {"by": "i", "emits": "e", "coefficient": gamma, "at": ["x low"]}} if gamma else {}))
        flux = found["e.left_weight_xhigh"].values.reshape(8, -1).sum(axis=1)  # in eighths of the time
        lost = found["e.left_weight_xlow"].values.reshape(8, -1).sum(axis=1)
        own = 1e17 * 1e-8 / (1e12 * pic.Units("SI", 1e12).in_si("length"))
        return flux / own, lost / own

    alone, back = at_anode(0)
    m, returned = alone[2:].mean(), back[2:].mean()
    print(f"avalanche: {m:.3f} electrons at the anode for each of the cathode, {returned:.3f} return", flush=True)
    for part in (0.3, 0.6):
        gamma, started = part / (m - (1 - returned)), time.time()
        flux, _ = at_anode(gamma)
        say(f"avalanche, {part} of the critical secondary emission", flux[-3:].mean(), m / (1 - part), started)
    started = time.time()
    flux, _ = at_anode(1.2 / (m - (1 - returned)))
    print(f"avalanche, 1.2 of the critical secondary emission: flux {', '.join(f'{x:.2f}' for x in flux)}", flush=True)


def skin():
    """A wide laser beam of a cylinder with two modes that meets a plasma of four times the critical density: E decays
    as exp(-z √(3 + k²)), k² = 4/w² of the beam at its waist w, in c/ω of the laser."""
    started, waist, edge, length = time.time(), 20.0, 15.0, 22.0
    laser = {"at": 2.0, "normal": "z", "wavelength": 2 * math.pi, "a0": 1e-4, "waist": waist, "focus": edge - 2,
             "envelope": "min(1, t/30)"}
    found = pic.run(pic.Parameters(
        grid={"geometry": "cylinder", "modes": 2, "cells": [352, 50], "length": [length, 50.0], "patches": [4, 2]},
        boundaries={"z": "absorbing", "layer": 16}, laser={"l": laser}, time={"end": 80.0}, run={"workers": 1},
        output={"pictures": 0, "gauss": False},
        species={"e": {"charge": -1, "mass": 1, "density": f"if(z > {edge} and z < 20, 4, 0)", "per_cell": 16,
                       "placed": "even"}},
        probe={"axis": {"field": "er", "at": [0, 0.5], "along": "z", "every": 5}}))
    field = found["axis"]
    z, values = field.axes[1].values, field.values[field.axis("time") > 60]
    size = np.sqrt((values**2).mean(axis=0))
    inside = (z > edge + 0.3) & (z < edge + 1.6)
    rate = -np.polyfit(z[inside], np.log(size[inside]), 1)[0]
    say("skin depth in z and r, 1/√3 of a wide beam: inverse", rate, math.sqrt(3 + 4 / waist**2), started)


KNOWN = {"landau": landau, "beams": beams, "drift": drift, "energy": energy, "gauss": gauss, "cherenkov": cherenkov,
         "secondaries": secondaries, "breakdown": breakdown, "skin": skin}
for name in sys.argv[1:] or KNOWN:
    KNOWN[name]()
