"""``plaq check`` and ``plaq lqcd estimate``: what a run will do."""

import resource
import tracemalloc
from pathlib import Path

import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd import planning, sea
from plaq.lqcd.action.hmc import TimeScale, integrate
from plaq.lqcd.action.terms import Term
from plaq.lqcd.application import Lqcd
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.parameters import Parameters

EXAMPLES = Path(__file__).parents[2] / "examples"
STRANGE = ("quarks.strange.kappa=0.15", "quarks.strange.flavours=1", "quarks.strange.range=[0.01, 5]",
           "quarks.strange.csw=1.2", "hmc.steps=[2, 3, 1, 2]", "quarks.light.csw=1.2")
HEAVY = ("quarks.heavy.kappa=0.17", "quarks.heavy.mu=0.3", "quarks.heavy.epsilon=0.2", "quarks.heavy.range=[0.01, 5]",
         "hmc.steps=[2, 3, 1, 2]")
SPLIT = (*HEAVY[:-1], "quarks.heavy.split=[5, 7]", 'hmc.scales=["light.1 heavy.1", "light.2", "heavy.2 gauge"]',
         "hmc.steps=[2, 1, 3]", 'hmc.integrator=["2mnfg", "4mn", "2mn_position"]')


def read(name, *settings):
    return Parameters.read(EXAMPLES / name / "input.toml", settings)


class Counted(Term):
    """No force."""

    def __init__(self):
        self.kicks = 0

    def value(self, gauge):
        return 0.0

    def kick(self, momenta, gauge, time):
        self.kicks += 1


class Moves(Momenta):
    """Momenta that count how often they move links."""

    moves = 0

    def move(self, gauge, time):
        self.moves += 1


@pytest.mark.parametrize("settings", [(), ('hmc.integrator=["omf4"]',), STRANGE, HEAVY, SPLIT])
def test_forces_are_counted_as_they_are_taken(settings):
    p = read("dynamical", *settings)
    lattice = lqcd.Lattice((2, 2, 2, 2))
    scales = [TimeScale(tuple(Counted() for _ in scale.terms), scale.steps, scale.integrator)
              for scale in sea.scales_of(p.quarks, p.hmc)]
    momenta = Moves(lattice)
    integrate(lqcd.GaugeField(lattice), momenta, scales, 1.0)
    works, moves = planning.time_scales(p)
    assert [work.kicks for work in works] == [term.kicks for scale in scales for term in scale.terms]
    assert moves == momenta.moves


def test_what_check_says():
    text = Lqcd(read("dynamical", *STRANGE)).describe()
    for words in ("4 x 4 x 4 x 4 (t, x, y, z), 256 sites",
                  "light:       two quarks, kappa = 0.177, m = -1.175, mu = 0.5, c_sw = 1.2",
                  "strange:     one quark, kappa = 0.15, m = -0.6667, c_sw = 1.2", "forces of light.1",
                  "forces of strange",
                  "moves links 192 times", "ranks:       1 in a grid of 1 x 1 x 1 x 1"):
        assert words in text, text


def test_what_check_says_of_a_doublet():
    text = Lqcd(read("dynamical", *HEAVY)).describe()
    assert "heavy:       two quarks, kappa = 0.17, m = -1.059, mu = 0.3 +- 0.2, c_sw = 0" in text
    assert "forces of heavy\n" in text, text


def test_what_estimate_says():
    run = Lqcd(read("quenched"))
    text = run.estimate(4, 2, None)
    assert "4 in a grid of 4 x 1 x 1 x 1, 2 worker(s) each; boxes of 2 x 8 x 8 x 8" in text
    assert "1024 of 1024 sites of a box" in text
    cut = Lqcd(read("quenched", "run.grid=[2, 2, 2, 2]")).estimate(16, 1, None)
    assert "240 of 256 sites of a box have a neighbour elsewhere" in cut, cut
    with pytest.raises(InputError, match="cannot be cut for 3 ranks"):
        run.estimate(3, 1, None)
    with pytest.raises(InputError, match="knows the speed of one machine only"):
        run.estimate(2, 1, Path("machine.toml"))


def test_time_and_memory_grow_with_what_is_to_be_done():
    p = read("quenched")
    assert planning.seconds(read("quenched", "action.gauge=iwasaki"))["updates"] > 5 * planning.seconds(p)["updates"]
    assert "flow" not in planning.seconds(read("dynamical")) and planning.seconds(p)["flow"] > 0
    noise = planning.seconds(read("quenched", "mesons.heavy.source=noise"))
    assert 1 / 3 < noise["mesons"] / planning.seconds(p)["mesons"] < 0.4
    more = [planning.memory(one, 100) for one in (p, *(read("dynamical", *more) for more in ((), STRANGE, HEAVY)))]
    assert planning.memory(read("quenched", "mesons.heavy.source=noise"), 100) < more[0] and more[1] < min(more[2:])
    assert planning.memory(p, 200) == 2 * planning.memory(p, 100)


def test_multigrid_needs_room_and_a_setup():
    p, multigrid = read("quenched"), read("quenched", "mesons.heavy.solver=multigrid")
    assert planning.memory(multigrid, 100) > planning.memory(p, 100) + 500_000
    assert planning.seconds(multigrid)["mesons"] > 100 * 8**4 * 98e-6
    assert "or 25 of multigrid" in planning.describe(multigrid, 1)


def test_small_aggregates_and_more_levels_cost_more():
    two, small, three = (read("quenched", "mesons.heavy.solver=multigrid", f"mesons.heavy.aggregates={boxes}")
                         for boxes in ("[]", "[[2, 2, 2, 2]]", "[[2, 2, 2, 2], [2, 2, 2, 2]]"))
    seconds = [planning.seconds(p)["mesons"] for p in (two, small, three)]
    assert 1.5 < seconds[1] / seconds[0] < 2.5 and 1.1 < seconds[2] / seconds[1] < 1.5
    needs = [planning.memory(p, 100) for p in (two, small, three)]
    assert needs[0] + 400_000 < needs[1] < needs[2] < needs[1] + 40_000


def test_forces_by_multigrid_are_set_up_for_each_field():
    cg, multigrid = read("dynamical"), read("dynamical", "quarks.light.solver=multigrid")
    counts = {count.term: count for count in planning.time_scales(cg)[0]}
    lightest, others = counts["light.1"], [count for term, count in counts.items() if term not in ("light.1", "gauge")]
    renewed = planning.SITE_RENEW * lightest.kicks + planning.SITE_IMPROVE
    assert planning.forces_cost(multigrid, lightest) > renewed
    assert planning.forces_cost(multigrid, lightest) != planning.forces_cost(cg, lightest)
    assert all(planning.forces_cost(multigrid, count) == planning.forces_cost(cg, count) for count in others)
    assert planning.memory(multigrid, 100) > planning.memory(cg, 100) + 500_000
    assert "or 25 of multigrid" in planning.describe(multigrid, 1)


def test_a_check_is_for_the_ranks_of_the_grid():
    text = Lqcd(read("quenched", "run.grid=[2, 1, 1, 1]")).describe()
    assert "ranks:       2 in a grid of 2 x 1 x 1 x 1, 1 worker(s) each; boxes of 4 x 8 x 8 x 8" in text


LARGE = ("lattice.extents=[2, 1024, 1024, 1014]", "lattice.extents=[192, 96, 96, 96]")


@pytest.mark.parametrize("extents", LARGE)
def test_a_check_takes_no_memory_for_sites(extents):
    p = read("quenched", extents)
    tracemalloc.start()
    text = Lqcd(p).describe()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1e6 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1e6, most  # KiB
    assert "which does not fit: this machine has" in text


def test_a_lattice_that_is_too_large_is_one_line():
    large = Lqcd(read("quenched", "lattice.extents=[1024, 624, 1024, 1024]", "run.grid=[1, 1, 1, 2]"))
    words = r"run.grid = \[1, 1, 1, 2\]: boxes of 1024 x 624 x 1024 x 512 sites are too large: a rank has at most"
    for look in (large.describe, lambda: large.check(2), lambda: large.estimate(2, 1, None)):
        with pytest.raises(InputError, match=words):
            look()
    with pytest.raises(InputError, match=r"lattice.extents = \[2, 1024, 1024, 1014\] needs some .* on each of 1 rank"):
        Lqcd(read("quenched", LARGE[0])).check(1, 1e12)
    Lqcd(read("quenched", LARGE[0])).check(1, 3e13)
