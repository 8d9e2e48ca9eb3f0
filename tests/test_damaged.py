"""Files know when they are damaged: what is read is what was written, or one line names the file."""

import os

import h5py
import numpy as np
import pytest
from damage import damaged

from plaq import checkpoint
from plaq.errors import InputError, RunError
from plaq.guard import DamagedFile, open_file, reading
from plaq.sealed import HEAD, PIECE, Format, new_file, opened, seal

FILES = 300
FORMAT = Format("plaq test", 3, "throw it away")


def fuzz(path, read, files=FILES):
    """Read so many damaged copies of a file: each as the whole one, or with one line that names it."""
    whole, wanted = path.read_bytes(), read()
    rng = np.random.default_rng(20)
    refused = 0
    for _ in range(files):
        how, content = damaged(whole, rng)
        path.write_bytes(content)
        try:
            assert read() == wanted, how
        except InputError as error:
            assert str(path) in str(error) and "\n" not in str(error), how
            refused += 1
    path.write_bytes(whole)
    assert read() == wanted
    return refused


@pytest.fixture
def numbers(tmp_path):
    """A sealed file of several pieces, and how to read all of it."""
    path = tmp_path / "numbers.h5"
    with open(path, "w+b") as file:
        with new_file(file) as content:
            content["large"] = np.arange(50_000.0)
            content["small"] = 7
            content.create_group("texts")["one"] = "some text"
        seal(file, FORMAT)

    def read():
        with opened(path, FORMAT) as file:
            return file["large"][()].tobytes(), int(file["small"][()]), file["texts/one"].asstr()[()]

    return path, read


def test_a_sealed_file_is_refused_wherever_it_is_damaged(numbers):
    assert fuzz(*numbers) == FILES


def test_the_line_names_the_place(numbers):
    path, read = numbers
    whole = path.read_bytes()
    at = whole.find(np.float64(40_000).tobytes())
    begin = HEAD + (at - HEAD) // PIECE * PIECE
    path.write_bytes(whole[:at] + b"\1" + whole[at + 1 :])
    with pytest.raises(DamagedFile) as error:
        read()
    assert str(error.value) == (f"{path}: damaged between bytes {begin} and {begin + PIECE}: they do not match their "
                                "checksum; throw it away")
    path.write_bytes(whole[:1000])
    with pytest.raises(DamagedFile, match=f"it ends at byte 1000, and was written up to {len(whole)}; throw it away"):
        read()


def test_what_is_not_read_is_not_compared(numbers):
    path, read = numbers
    whole = path.read_bytes()
    at = whole.find(np.float64(40_000).tobytes())
    path.write_bytes(whole[:at] + b"\1" + whole[at + 1 :])
    with opened(path, FORMAT) as file:
        assert file["large"][:10].tolist() == list(range(10)) and file["small"][()] == 7


def test_any_program_for_hdf5_opens_a_sealed_file(numbers):
    path, read = numbers
    with h5py.File(path) as file:
        assert file["large"][49_999] == 49_999 and file["texts/one"].asstr()[()] == "some text"


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is no ordinary file"), opened(tmp_path / "pipe", FORMAT):
        pass
    with pytest.raises(InputError, match="is a folder"), opened(tmp_path, FORMAT):
        pass
    with pytest.raises(InputError, match="none: there is no such file"), opened(tmp_path / "none", FORMAT):
        pass


@pytest.mark.parametrize("error", [
    KeyError("x"), IndexError(), ValueError("two\nlines"), UnicodeDecodeError("utf-8", b"", 0, 1, ""),
    OSError("h5py says"), RuntimeError(), MemoryError(), RecursionError(), TypeError("no"),
])
def test_the_guard_makes_one_line_of_any_error(error):
    with pytest.raises(DamagedFile) as raised, reading("some/file", "a table", "make it again"):
        raise error
    said = str(raised.value)
    assert said.startswith(f"some/file: damaged, or not a table ({type(error).__name__}") and "\n" not in said
    assert said.endswith("; make it again")


def test_the_guard_lets_errors_of_plaq_and_of_the_system_pass():
    with pytest.raises(RunError, match="^kept$"), reading("file", "a table"):
        raise RunError("kept")
    with pytest.raises(InputError, match="^file: cannot be read: Permission denied$"), reading("file", "a table"):
        raise PermissionError(13, "Permission denied")


def test_damaged_checkpoints(tmp_path):
    path = tmp_path / "checkpoint.h5"
    checkpoint.save(path, {"sigma": np.arange(6000.0), "texts": ["a", None, {"b": (1, 2.5)}]}, "plaq test", "abc")

    def read():
        state = checkpoint.load(path, "plaq test", "abc")
        return state["sigma"].tobytes(), state["texts"]

    assert fuzz(path, read) == FILES
