"""The prediction of a run on a machine: it follows the machine's numbers, and what cannot be is refused."""

import pytest
import synthetic

from plaq.comm import world
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.planning.calibrate import line, measured_machine
from plaq.dca.planning.cost import MACHINE, Machine, cost
from plaq.dca.planning.forecast import forecast
from plaq.errors import InputError


def machine(**values):
    return Machine(MACHINE.read({"machine": values}, "test")["machine"])


def at(T, speeds, ranks, workers=1, **solver):
    p = synthetic.parameters(solver={"chains": 64, "bins": 64, **solver})
    return cost(p, Cluster(Lattice(p.hopping()), p.model.cluster), T, speeds, ranks, workers)


def test_chains_run_side_by_side_up_to_their_number():
    alone = at(0.1, Machine(), 1)
    assert alone.solver == pytest.approx(alone.core_seconds)
    for ranks, workers, in_turn in [(2, 1, 32), (2, 4, 8), (64, 1, 1), (32, 4, 1), (48, 1, 2)]:
        assert at(0.1, Machine(), ranks, workers).solver == pytest.approx(alone.core_seconds * in_turn / 64)


def test_each_part_follows_its_speed():
    base = at(0.1, Machine(), 4)
    r = Machine().rates
    slow = machine(walk=r.walk / 2, measure=r.measure / 2, proposal=2 * r.proposal, measurement=2 * r.measurement)
    assert at(0.1, slow, 4).solver == pytest.approx(2 * base.solver)
    assert at(0.1, machine(bandwidth=5e8, latency=2e-4), 4).exchange == pytest.approx(2 * base.exchange)
    assert at(0.1, machine(analysis=6e-8, sample=4e-3, iteration=0.1), 4).evaluation == pytest.approx(
        2 * base.evaluation)
    assert at(0.1, machine(disk=6e8), 4).writing == pytest.approx(base.writing / 2)
    assert at(0.1, Machine(), 1).exchange == 0


def test_a_rank_sends_others_their_rows_of_each_measurement():
    speed, measurements = Machine().bandwidth, 64_000
    for ranks in (1, 2, 4, 64):
        found = at(0.1, Machine(), ranks, measurements=measurements)
        planes = 4 * 4 * 2 * (4 * found.window) ** 2  # bytes of G(k, k'): both spins' real and imaginary parts
        sent = 2 * measurements * planes * (ranks - 1) / ranks  # by all ranks together, two configurations each
        assert found.messages * ranks * speed == pytest.approx(sent)
        assert found.distributed_seconds >= found.solver + found.messages
    assert at(0.1, Machine(), 1).distributed_seconds == at(0.1, Machine(), 1).seconds


def test_efficiency_falls_where_warm_up_is_not_shared():
    """Equal measurements on more chains: only the measuring part is divided."""
    few = at(0.1, Machine(), 4, chains=4)
    many = at(0.1, Machine(), 64)
    assert few.solver / 16 < many.solver < few.solver / 4


def test_a_machine_is_read_back(tmp_path):
    speeds = machine(name="here", walk=2e10)
    (tmp_path / "machine.toml").write_text(speeds.to_toml())
    assert Machine.read(tmp_path / "machine.toml") == speeds


@pytest.mark.parametrize("text, message", [
    ("[machine]\nwalks = 1e10\n", "unknown key machine.walks; did you mean machine.walk?"),
    ("[machine]\nwalk = 0\n", "machine.walk = 0 is not allowed"),
    ("walk =\n", "not a TOML file"),
])
def test_a_wrong_machine_file_is_one_clear_error(tmp_path, text, message):
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="machine.toml") as error:
        Machine.read(path)
    assert message in str(error.value)


def test_forecast_refuses_the_inputs_that_a_run_refuses():
    with pytest.raises(InputError, match="every rank needs a chain"):
        forecast(synthetic.parameters(), Machine(), 1000, 1)
    text = forecast(synthetic.parameters(), Machine(), 8, 1)
    assert "ranks:       8, with 1 worker(s) each: 8 cores for 16 chains" in text


def test_line_goes_through_both_points():
    assert line((2.0, 1.0), 7.0, (5.0, 1.0), 13.0) == pytest.approx((2.0, 3.0))


def test_this_machine_is_measured(tmp_path):
    found = measured_machine(world(), tmp_path)
    assert Machine.read(_written(tmp_path, found)) == found
    assert found.walk > 1e6 and found.measure > 1e6 and found.disk > 1e3 and found.startup > 0


def _written(folder, speeds):
    path = folder / "machine.toml"
    path.write_text(speeds.to_toml())
    return path
