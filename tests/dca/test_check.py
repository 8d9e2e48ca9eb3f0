"""Estimates of `plaq check`: the loop's own window, and memory that follows from the measurements."""

import pytest
import synthetic

from plaq.dca.application import Dca
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.parameters import Parameters
from plaq.dca.planning import needs
from plaq.dca.planning.cost import Machine, cost
from plaq.dca.planning.forecast import describe
from plaq.dca.planning.needs import check_needs
from plaq.dca.solver.choices import window
from plaq.errors import InputError
from plaq.run import sweep


def at(T, **sections):
    p = synthetic.parameters(**sections)
    return p, cost(p, Cluster(Lattice(p.hopping()), p.model.cluster), T, Machine(), 1, 1)


@pytest.mark.parametrize("omega_max, frequencies", [(0.01, 1), (0.22, 1), (1.0, 2), (1.1, 3), (7.7, 18)])
def test_window_is_that_of_the_loop(omega_max, frequencies):
    """(2n + 1) pi T up to omega_max, at least one; pi T = 0.2199."""
    p, found = at(0.07, two_particle={"omega_max": omega_max})
    assert found.window == window(p, 1 / 0.07) == frequencies
    assert at(0.5, two_particle={"omega_max": omega_max})[1].window == 0  # above two_particle.below


def test_memory_follows_the_measurements():
    """Bytes of the bins of n general channels with 16 frequencies on 4 sites, in four copies."""
    one = 4 * 64 * 16 * (2 * 4 * 16) ** 2
    of = lambda **pairs: at(0.07, two_particle=pairs)[1].rank_bytes
    charge = of(channels=["charge"])
    assert 1.0 < (charge - of(channels=[])) / one < 1.2
    both = of(channels=["charge", "magnetic"])
    assert 0.99 < (both - charge) / one < 1.1
    assert of(channels=["charge"], transfers=[[0, 0], [1, 1]]) == both
    assert of(channels=["charge"], bosonic=[0, 1]) > both  # more frequencies of G as well
    # pp is small at q = 0, nu = 0 only; [2, 0] is that momentum too
    assert of(channels=["pp"]) == of(channels=["pp"], transfers=[[2, 0]]) < (charge + of(channels=[])) / 2
    assert of(channels=["pp"], transfers=[[1, 1]]) == charge


def test_a_temperature_far_above_the_band_gets_a_word():
    text = describe(synthetic.parameters(dca={"temperatures": [300, 100]}))
    assert "T = 300 to 100 is far above the band width of 8 t and U" in text
    hot = synthetic.parameters(dca={"temperatures": [300, 1]})
    assert "T = 300 is far above" in Dca(hot).header()["remark"]
    for T in (1.0, 40.0):  # a series from high temperature is meant
        usual = synthetic.parameters(dca={"temperatures": [T]})
        assert "remark" not in describe(usual) and "remark" not in Dca(usual).header()


def test_inputs_that_cannot_run_are_refused_and_no_others(monkeypatch):
    p = synthetic.parameters()
    needed = at(0.07)[1].rank_bytes
    check_needs(p, 2, needed)
    check_needs(p, 1, needed / 2)  # the estimate may be off by that
    with pytest.raises(InputError, match=r"T = 0.07 of dca.temperatures needs some \S+ MB of memory on each of 1 rank"):
        check_needs(p, 1, needed / 4)
    with pytest.raises(InputError, match="every rank needs a chain, so start at most 16 ranks"):
        check_needs(p, 17, needed)
    monkeypatch.setattr(needs, "LONGEST", 1.0)
    with pytest.raises(InputError, match="solver.measurements = .* take some .* on 1 rank"):
        check_needs(p, 1, needed)


def test_each_group_of_ranks_of_a_sweep_is_checked():
    assert [sweep.group_sizes(*n) for n in ((2, 5), (5, 2), (1, 3))] == [[3, 2], [1, 1], [3]]
    runs = {name: synthetic.parameters(solver={"chains": chains}) for name, chains in {"a": 2, "b": 8}.items()}
    sweep.check_needs(Dca, runs, 4, 1e12, "input")
    with pytest.raises(InputError, match="a: -n 5 ranks but solver.chains = 2"):
        sweep.check_needs(Dca, runs, 10, 1e12, "input")


def test_exact_diagonalisation_has_an_estimate_of_its_own():
    isolated = {"density": None, "mu": 3.0, "isolated": True, "temperatures": [0.5]}
    text = describe(synthetic.parameters(dca=isolated, solver={"kind": "ed"}, two_particle={"below": 0.1}))
    assert "256 states, exact diagonalisation in about 1.0 s" in text
    text = describe(synthetic.parameters(dca=isolated, solver={"kind": "ed"}, two_particle={"below": 1.0}))
    assert "256 states, exact diagonalisation in about 11 s" in text


def test_terms_of_a_general_model():
    p = Parameters(model={"lattice": "kagome", "U": {"A": 4.0, "B": 3.0}, "amplitudes": {"V": 0.5}, "field": 0.1},
                   dca={"temperatures": [1.0], "density": 3.0})
    text = describe(p)
    assert "U = 4 t on A, 3 t on B" in text and "terms:       V, a bond once; field 0.1 t" in text
    assert "cell:        A at (0,0), B at (0.5,0), C at (0,0.5)" in text
    assert "estimate:" in text
