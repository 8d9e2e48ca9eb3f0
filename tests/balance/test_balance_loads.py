"""Files of recorded loads: what is read is what was written, whatever else is refused in one line; and their replay."""

import json

import numpy as np
import pytest
from damage import damaged

from plaq import _core
from plaq.balance import read
from plaq.balance.replay import as_csv, replay, usable
from plaq.errors import InputError


def plume(n: int, ranks: int, phase: int = 0) -> dict:
    """A phase of n x n elements along the Hilbert curve, the loads of which are a plume that moves with the phase."""
    x, y = np.meshgrid(np.arange(n), np.arange(n))
    at = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
    positions = _core.collection.hilbert_positions(at, np.array([n, n], np.int32))
    loads = 0.1 + np.exp(-8 * at[:, 0] / n) * np.exp(-20 * ((at[:, 1] + phase) / n - 0.5) ** 2)
    number = np.arange(n * n).reshape(n, n)
    edges = np.concatenate([np.stack([number[:, 1:].ravel(), number[:, :-1].ravel()], 1),
                            np.stack([number[1:].ravel(), number[:-1].ravel()], 1)])
    return {
        "ranks": ranks, "ranks_per_node": 1, "by": "none", "keys": number.ravel().tolist(), "loads": loads.tolist(),
        "where": (positions.astype(int) * ranks // n**2).tolist(), "to": [], "bytes": [100] * n**2,
        "positions": positions.tolist(), "points": [[int(a), int(b), 0] for a, b in at],
        "edges": [[int(a), int(b), 8] for a, b in edges],
    }


def write(path, phases, head=None):
    lines = [head or {"plaq loads": 1, "name": "plume", "unit": "s"}, *phases]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def vt_files(folder, ranks=3, each=4):
    """Entities in a ring, each of which sends 10 bytes to the next; that of number 1 cannot move."""
    n = ranks * each
    entity = lambda k: {"collection_id": 7, "home": k // each, "seq_id": 10 * k, "index": [k % each, k // each],
                        "migratable": k != 1, "type": "object"}
    for rank in range(ranks):
        mine = range(rank * each, (rank + 1) * each)
        phases = [
            {"id": number,
             "tasks": [{"entity": entity(k), "node": rank, "resource": "cpu", "time": 1.0 + k + number,
                        "user_defined": {"task_serialized_bytes": 1024.0}} for k in mine],
             "communications": [{"type": "SendRecv", "from": entity(k), "to": entity((k + 1) % n), "messages": 1,
                                 "bytes": 10.0} for k in mine]}
            for number in (0, 3)
        ]
        (folder / f"ring.{rank}.json").write_text(json.dumps({"metadata": {"type": "LBDatafile", "rank": rank},
                                                              "phases": phases}))
    return folder / "ring.0.json"


def test_reads_what_a_collection_writes(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(6, 4), plume(6, 4, 1)]))
    assert (loads.name, loads.unit, loads.ranks, len(loads.phases), loads.notes) == ("plume", "s", 4, 2, [])
    phase, wanted = loads.phases[1], plume(6, 4, 1)
    for name in ("keys", "loads", "positions", "points"):
        assert getattr(phase, name).tolist() == wanted[name]
    assert phase.rank_of.tolist() == wanted["where"]
    assert phase.ends.tolist() == [edge[:2] for edge in wanted["edges"]] and set(phase.weights) == {8}


def test_keys_of_64_bits_are_kept(tmp_path):
    phase = plume(2, 1) | {"keys": [2**64 - 1, 2**64 - 2, 5, 2**53 + 1]}
    assert read(write(tmp_path / "l.jsonl", [phase])).phases[0].keys.tolist() == phase["keys"]


def test_a_last_line_that_is_cut_off_is_left_out(tmp_path):
    path = write(tmp_path / "l.jsonl", [plume(4, 2), plume(4, 2)])
    path.write_bytes(path.read_bytes()[:-30])
    loads = read(path)
    assert len(loads.phases) == 1 and loads.notes == [f"{path}: the last line is not complete and is left out"]


@pytest.mark.parametrize("change, words", [
    ({"ranks": 0}, "line 2: ranks is '0'"),
    ({"ranks": 10**9}, "line 2: ranks is"),
    ({"ranks": 2.0}, "line 2: ranks is"),
    ({"loads": [1.0]}, "line 2: there are 4 keys and 1 of loads"),
    ({"loads": [1, 2, 3, -4]}, "line 2: loads has -4.0"),
    ({"loads": [1, 2, 3, "x"]}, "line 2: loads: "),
    ({"loads": [1, 2, 3, [4]]}, "line 2: loads: "),
    ({"loads": []}, "line 2: there are 4 keys and 0 of loads"),
    ({"keys": [1, 2, 3, 3]}, "line 2: a key is repeated"),
    ({"keys": [1, 2, 3, -1]}, "line 2: keys: "),
    ({"keys": [1, 2, 3, 0.5]}, "line 2: keys: not all are integers"),
    ({"keys": []}, "line 2: it has no elements"),
    ({"where": [0, 0, 0, 2]}, "line 2: the rank of an element is not from 0 to 1"),
    ({"where": [0, 0, 0, 1 << 40]}, "line 2: where: "),
    ({"bytes": [1, 2]}, "line 2: there are 4 keys and 2 sizes"),
    ({"bytes": [1, 2, 3, -1]}, "line 2: sizes has -1"),
    ({"points": [[0, 0]] * 4}, "line 2: points has the shape (4, 2)"),
    ({"positions": 7}, "line 2: positions "),
    ({"edges": [[0, 4, 1]]}, "line 2: an edge ends at 4, but there are only 4 elements"),
    ({"edges": [[0, -1, 1]]}, "line 2: edges: not all ends"),
    ({"edges": [[0, 0.5, 1]]}, "line 2: edges: not all ends"),
    ({"edges": [[0, 1, -1]]}, "line 2: weights has -1"),
])
def test_says_which_line_makes_no_sense(tmp_path, change, words):
    path = write(tmp_path / "l.jsonl", [plume(2, 2) | change])
    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: {words}") and "\n" not in str(error.value)


@pytest.mark.parametrize("text, words", [
    (b'{"plaq loads":1,"name":"a","unit":"s"}\n', "contains no record of a balancing"),
    (b'{"plaq loads":2,"name":"a","unit":"s"}\n{}\n', "is of version 2; this plaq reads version 1"),
    (b'{"plaq loads":1,"name":"a","unit":"m"}\n{}\n', "line 1: has no name, or a unit"),
    (b'{"plaq loads":1,"name":"a","unit":"s"}\n{"ranks":NaN}\n', "line 2: NaN is not a number"),
    (b'{"plaq loads":1,"name":"a","unit":"s"}\n[]\n', "line 2: is not a record of a balancing"),
    (b'{"plaq loads":1,"na', "ends in its first line"),
    (b"", "is neither a file of plaq's loads nor named NAME.RANK.json"),
])
def test_says_what_is_wrong_with_a_file(tmp_path, text, words):
    path = tmp_path / "l.jsonl"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read(path)


def test_ranks_are_the_same_in_all_lines(tmp_path):
    with pytest.raises(InputError, match="line 3: has 3 ranks, but the lines before have 2"):
        read(write(tmp_path / "l.jsonl", [plume(3, 2), plume(3, 3)]))
    with pytest.raises(InputError, match="there is no such file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="unpack it first"):
        read(tmp_path / "data.0.json.br")


def test_reads_files_of_vt(tmp_path):
    loads = read(vt_files(tmp_path))
    assert (loads.name, loads.ranks, len(loads.phases)) == ("ring", 3, 2)
    phase = loads.phases[0]
    assert phase.keys.tolist() == [0, *range(20, 120, 10)]  # that of number 1 cannot move
    assert phase.loads.tolist() == [1, *range(3, 13)]
    assert phase.rank_of.tolist() == [0] * 3 + [1] * 4 + [2] * 4
    assert set(phase.sizes) == {1024} and phase.points[3].tolist() == [0, 1, 0]
    assert sorted(map(tuple, phase.ends.tolist())) == sorted([(k, k + 1) for k in range(1, 10)] + [(10, 0)])
    assert set(phase.weights) == {10}
    assert loads.notes[0] == "phase 0: 1 entities that cannot migrate, 2.56 % of the load, are left out"
    assert loads.phases[1].loads.tolist() == [4, *range(6, 16)]
    assert "bisection" in usable(loads)[0]


def test_files_of_vt_without_an_index_have_no_points(tmp_path):
    path = vt_files(tmp_path)
    for file in tmp_path.iterdir():
        file.write_text(file.read_text().replace('"index"', '"unknown"'))
    loads = read(path)
    assert loads.phases[0].points.size == 0 and loads.phases[0].positions.tolist() == list(range(11))
    assert usable(loads)[1] == ["bisection"]
    with pytest.raises(InputError, match="--by: bisection needs points"):
        usable(loads, "refine,bisection")


def test_balancers_in_which_ranks_talk_are_left_out_on_very_many_ranks(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(2, 1_000_000)]))
    names, lacking, slow = usable(loads, "", 1_000_000)
    assert slow == ["diffusion", "gossip"] and not {*slow} & {*names} and not lacking
    assert usable(loads, "", 1000)[2] == [] and {*slow} < {*usable(loads, "", 1000)[0]}
    assert usable(loads, "gossip", 1_000_000) == (["gossip"], [], [])


def test_a_cut_between_neighbouring_numbers_ends(tmp_path):
    phase = {"ranks": 2, "keys": [0, 1, 2, 3, 4], "loads": [0.06, 0.51, 0.26, 0.45, 0.12], "where": [0] * 5,
             "positions": [0, 1, 2, 3, 4]}
    loads = read(write(tmp_path / "l.jsonl", [phase]))
    for by in usable(loads)[0]:
        if by not in ("none", "refine", "diffusion", "gossip"):
            assert replay(loads, by, 2).last.max() <= 0.8300000000000001, by


def test_loads_that_cannot_be_added_are_refused(tmp_path):
    phase = plume(2, 2) | {"loads": [9e299, 9e299, 0, 0]}
    with pytest.raises(InputError, match=r"line 2: loads add up to 1.8e\+300; the sum must be less than 1e300"):
        read(write(tmp_path / "l.jsonl", [phase]))



def change_vt(folder, change):
    path = folder / "ring.1.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("change, words", [
    (lambda c: c["phases"][0].update(id="x"), "ring.1.json: a phase: id is 'x'"),
    (lambda c: c["phases"][0].update(tasks=7), "ring.1.json: phase 0: tasks is not a list"),
    (lambda c: c["phases"][0]["tasks"][0].update(time=-1), "ring.1.json: phase 0: entity 40: time is '-1'"),
    (lambda c: c["phases"][0]["tasks"][0].update(time=None), "entity 40: time is 'None'"),
    (lambda c: c["phases"][0]["tasks"][0].update(entity=3), "ring.1.json: phase 0: has no entity"),
    (lambda c: c["phases"][0]["tasks"][0]["entity"].pop("seq_id"), "ring.1.json: phase 0: seq_id is 'None'"),
    (lambda c: c["phases"][0]["tasks"][0]["entity"].update(seq_id=0), "a key is repeated"),
    (lambda c: c["phases"][0]["tasks"][0]["entity"].update(index=[-1]), "entity 40: index is"),
    (lambda c: c["phases"][0]["communications"][0].update(bytes="many"), "a communication: bytes is 'many'"),
    (lambda c: c["phases"][0]["communications"][0].pop("to"), "a communication: has no entity"),
    (lambda c: c["phases"].append(c["phases"][0]), "ring.1.json: phase 0 is repeated"),
    (lambda c: c.update(phases=[]), "there is no phase that all 3 ranks have"),
    (lambda c: c["metadata"].update(type="LBStatsfile"), "is of type 'LBStatsfile'"),
])
def test_says_what_is_wrong_with_a_file_of_vt(tmp_path, change, words):
    path = vt_files(tmp_path)
    change_vt(tmp_path, change)
    with pytest.raises(InputError) as error:
        read(path)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_rank_of_vt_that_is_missing(tmp_path):
    path = vt_files(tmp_path)
    (tmp_path / "ring.1.json").unlink()
    with pytest.raises(InputError, match=r"ring.1.json: there is no such file, although there is one of rank 2"):
        read(path)


@pytest.mark.parametrize("make", [lambda folder: write(folder / "l.jsonl", [plume(3, 2), plume(3, 2)]), vt_files])
def test_damage_ends_in_one_line(tmp_path, make):
    path = make(tmp_path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(3), 0
    for _ in range(200):
        how, content = damaged(whole, rng)
        path.write_bytes(content)
        try:
            loads = read(path)
            replay(loads, "greedy_refine", 3)  # what is read can be replayed
        except InputError as error:
            assert "\n" not in str(error) and path.name in str(error), how
            refused += 1
    assert refused > 100


def test_replay_knows_what_balancers_promise(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(12, 6, phase) for phase in range(4)]))
    for by in usable(loads)[0]:
        one = replay(loads, by, 6)
        assert [row.phase for row in one.rows] == [0, 1, 2, 3]
        for row in one.rows:
            assert row.floor <= row.predicted <= row.before
        assert one.last.sum() == pytest.approx(loads.phases[-1].loads.sum())
        assert one.last.max() == pytest.approx((1 + one.rows[-1].predicted) * one.last.mean())
        assert np.bincount(one.rank_of, loads.phases[-1].loads, 6) == pytest.approx(one.last)
    nothing = replay(loads, "none", 6)
    assert nothing.mean("moved") == nothing.sum("moved_bytes") == 0 and nothing.mean("before") > 0.5
    refined = replay(loads, "refine", 6)
    assert refined.rows[1].before < nothing.rows[1].before  # elements stay where the phase before put them
    assert refined.rows[1].moved < refined.rows[0].moved
    assert refined.rows[0].moved_bytes == pytest.approx(100 * 144 * refined.rows[0].moved)


def test_replay_on_other_numbers_of_ranks(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(12, 6)]))
    for ranks in (1, 2, 48, 500):
        one = replay(loads, "longest_first", ranks)
        assert len(one.last) == ranks and one.rank_of.max() < ranks
        assert one.rows[0].predicted >= one.rows[0].floor
        if ranks == 1:
            assert one.rows[0].predicted == 0
        if ranks == 500:
            assert one.rows[0].predicted == pytest.approx(one.rows[0].floor) and one.rows[0].floor > 2
    capped = replay(loads, "longest_first", 6, most_bytes=2400)
    assert np.bincount(capped.rank_of).max() == 24


def test_a_line_for_each_balancer_and_phase(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(4, 2), plume(4, 2)]))
    text = as_csv([replay(loads, by, 2) for by in ("none", "refine")]).splitlines()
    assert text[0] == "phase,by,before,predicted,floor,moved,moved_bytes,cut,seconds"
    assert [line.split(",")[:2] for line in text[1:]] == [["0", "none"], ["1", "none"], ["0", "refine"],
                                                          ["1", "refine"]]


def test_names_that_are_no_balancer(tmp_path):
    loads = read(write(tmp_path / "l.jsonl", [plume(4, 2)]))
    with pytest.raises(InputError, match="--by: unknown balancer 'best'; allowed: none, longest_first"):
        usable(loads, "none,best")


def test_load_distributions_are_checked_in_the_core():
    empty = np.zeros(0)
    make = lambda **other: _core.collection.LoadDistribution(**({
        "ranks": 2, "loads": np.ones(2), "rank_of": np.zeros(2, np.int32), "sizes": empty,
        "ends": np.zeros((0, 2), np.uint64),
        "weights": empty, "positions": np.zeros(0, np.uint64), "points": np.zeros((0, 3)), "most_bytes": 1.0,
        "ranks_per_node": 1} | other))
    good = make()
    assert good.plan("longest_first").tolist() == [0, 1]
    for wrong in ({"ranks": 0}, {"loads": -np.ones(2)}, {"rank_of": np.full(2, 2, np.int32)}, {"weights": np.ones(1)},
                  {"points": np.zeros((2, 2))}, {"ends": np.zeros((1, 2), np.uint64)}, {"ranks_per_node": 0}):
        with pytest.raises(InputError):
            make(**wrong)
    for plan in ([0], [0, 2], [-1, 0]):
        with pytest.raises(InputError, match="a plan has a rank for each element"):
            good.evaluate(np.array(plan, np.int32))
    with pytest.raises(InputError, match="outside of the box"):
        _core.collection.hilbert_positions(np.array([[4, 0]], np.int32), np.array([4, 4], np.int32))
    with pytest.raises(InputError, match="1 to 3 dimensions"):
        _core.collection.hilbert_positions(np.zeros((1, 4), np.int32), np.ones(4, np.int32))
