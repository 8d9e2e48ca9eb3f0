"""Checkpoints come back bit for bit, or are named and refused; a failed write leaves the last one whole."""

import dataclasses
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plaq.errors import InputError, RunError
from plaq.files import checkpoint

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda s: s != "."
)
DTYPES = (
    hnp.floating_dtypes()
    | hnp.integer_dtypes()
    | hnp.unsigned_integer_dtypes()
    | hnp.complex_number_dtypes()
    | hnp.boolean_dtypes()
).filter(lambda d: d.itemsize <= 16 and d.isnative and d != np.dtype("longdouble"))
ARRAYS = DTYPES.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.complex_numbers()
    | ARRAYS
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"))
    | st.binary()
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3) | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (np.ndarray, np.generic, float, complex)):
        x, y = np.asarray(a), np.asarray(b)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    return a == b


def save(path, state):
    checkpoint.save(path, state, "plaq test", "abc")


def load(path, fingerprint="abc"):
    return checkpoint.load(path, "plaq test", fingerprint)


@settings(max_examples=50)
@given(state=st.dictionaries(NAMES, TREES, max_size=4))
def test_any_state_comes_back_bit_for_bit(tmp_path_factory, state):
    path = tmp_path_factory.mktemp("state") / "checkpoint.h5"
    save(path, state)
    assert same(load(path), state)


@pytest.mark.parametrize(
    "state, error",
    [
        ({"a": object()}, TypeError),
        ({1: 2}, TypeError),
        ({"a": np.array([None])}, TypeError),
        ({"a": {"b": [{"c": {1, 2}}]}}, TypeError),
    ],
)
def test_what_cannot_be_stored_is_refused_and_the_last_one_stays(tmp_path, state, error):
    path = tmp_path / "checkpoint.h5"
    save(path, {"good": 1})
    with pytest.raises(error):
        save(path, state)
    assert load(path) == {"good": 1} and [file.name for file in tmp_path.iterdir()] == ["checkpoint.h5"]


def test_no_checkpoint_is_no_state(tmp_path):
    assert load(tmp_path / "checkpoint.h5") is None


STATE = {"sigma": np.arange(6000.0), "iteration": 3}


@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.99])
def test_truncated_checkpoint_is_named_and_refused(tmp_path, part):
    path = tmp_path / "checkpoint.h5"
    save(path, STATE)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(InputError, match="checkpoint.h5: .*truncated or damaged.*remove it to start"):
        load(path)


def test_flipped_bytes_are_noticed(tmp_path):
    path = tmp_path / "checkpoint.h5"
    save(path, STATE)
    content = bytearray(path.read_bytes())
    at = content.find(np.float64(4321.0).tobytes())
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged between bytes 512 and .* checksum; remove it to start"):
        load(path)


def test_foreign_files_are_named_and_refused(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.h5"
    with h5py.File(path, "w") as file:
        file["data"] = 1
    with pytest.raises(InputError,
                       match="checkpoint.h5: not 'plaq checkpoint', version 12, but HDF5 of another program"):
        load(path)
    save(path, STATE)
    with pytest.raises(InputError, match="checkpoint.h5: a checkpoint of a different input"):
        load(path, "other")
    with pytest.raises(InputError, match="a checkpoint of plaq test, this is plaq pic"):
        checkpoint.load(path, "plaq pic", "abc")
    monkeypatch.setattr(checkpoint, "FORMAT", dataclasses.replace(checkpoint.FORMAT, version=99))
    save(path, STATE)
    monkeypatch.undo()
    wanted = "'plaq checkpoint', version 99, where this plaq reads 'plaq checkpoint', version 12; remove it"
    with pytest.raises(InputError, match=wanted):
        load(path)


def test_unwritable_place_is_one_error(tmp_path):
    with pytest.raises(RunError, match="none/checkpoint.h5: cannot be written: No such file"):
        save(tmp_path / "none/checkpoint.h5", STATE)


def test_full_disk_keeps_the_last_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.h5"
    save(path, {"small": 1})
    script = f"""
import resource, signal
from pathlib import Path
import numpy as np
from plaq.files import checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write then fails as it does on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
checkpoint.save(Path({str(path)!r}), {{"large": np.zeros(50_000)}}, "plaq test", "abc")
"""
    outcome = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "RunError" in outcome.stderr and "no space left for it" in outcome.stderr
    assert "the previous one is kept" in outcome.stderr
    assert load(path) == {"small": 1} and [file.name for file in tmp_path.iterdir()] == ["checkpoint.h5"]
