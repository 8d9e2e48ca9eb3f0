"""Isolated clusters at low temperature, where G at low frequencies has many times the noise of G at equal times."""

import numpy as np
from isolated import OPEN_DIMER, Geometry, Isolated, at_filling, hops

SITE = Geometry("one site", hops(-1.0, -1.0), ((1, 0), (0, 1)))  # its hops lead back: eps = -4


def ends(estimate):
    """(mean, error) of G(K, beta-) summed over K, both spins, per site: -n."""
    values = 2 * estimate.jackknife[:, :, -1].mean(axis=1)
    return 2 * estimate.mean[:, -1].mean(), np.sqrt((len(values) - 1) * values.var())


def test_the_energy_of_one_site_is_that_of_each_number_of_electrons():
    """-4 n + 4 D is -4 with one electron and with two, and there are no others."""
    case = Isolated(SITE, 4.0, 10.0, 0.0, measurements=2048, chains=16, seed=3, warm_up=500)
    measured, exact = case.measure(), case.exact
    assert abs(exact.total_energy + 4) < 1e-9 and abs(exact.density - 4 / 3) < 1e-9
    assert abs(measured["energy"].mean + 4) < 1e-5 and measured["energy"].error < 1e-5
    np.testing.assert_allclose(measured["energy_kinetic"].mean, -4 * measured["density"].mean, atol=1e-6)
    for name, wanted in (("density", 4 / 3), ("energy_kinetic", -16 / 3), ("double_occupancy", 1 / 3)):
        assert abs(measured[name].mean - wanted) < 4 * measured[name].error, name
    assert measured["energy_kinetic"].error < 0.25  # 0.38 from G(iw)


def test_energy_and_G_tau_of_dimers_are_as_good_as_the_density():
    z = []
    for U, beta, seed in ((8.0, 5.0, 1), (8.0, 5.0, 2), (4.0, 10.0, 3)):
        case = at_filling(OPEN_DIMER, U, beta, 0.8, measurements=8192, chains=16, seed=seed)
        measured, exact = case.measure(), case.exact
        density, error = measured["density"], measured["energy"].error
        mean, at_the_end = ends(measured["G_tau"])
        np.testing.assert_allclose(-mean, density.mean, atol=1e-6)
        assert abs(at_the_end / np.sqrt((len(density.jackknife) - 1) * density.jackknife.var()) - 1) < 1e-3
        assert error < 2 * density.error
        z += [(measured[name].mean - wanted) / measured[name].error for name, wanted in
              (("energy", exact.total_energy), ("energy_kinetic", exact.kinetic_energy), ("density", exact.density))]
    assert np.abs(z).max() < 4 and np.mean(np.square(z)) < 3
