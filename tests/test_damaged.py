"""Damaged files are detected: the content is the one written, or one line names the file."""

import os

import h5py
import numpy as np
import pytest
from damage import damaged

from plaq.comm import tuning as comm_tuning
from plaq.dca.parameters import Parameters
from plaq.dca.planning.cost import Machine
from plaq.errors import InputError, RunError
from plaq.files import checkpoint
from plaq.files.guard import DamagedFile, reading
from plaq.files.number_file import NumberFile
from plaq.files.sealed import HEAD, PIECE, Format, new_file, open_sealed, seal

FILES = 300
FORMAT = Format("plaq test", 3, "throw it away")


def fuzz(path, read, files=FILES):
    """Read damaged copies of a file: each as the undamaged one, or with one line that names it."""
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


def told(read):
    """Return the result of ``read`` for a file that people write too, or None for one line of an
    error."""
    try:
        return read()
    except InputError as error:
        assert "\n" not in str(error)
        return None


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
        with open_sealed(path, FORMAT) as file:
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
    with open_sealed(path, FORMAT) as file:
        assert file["large"][:10].tolist() == list(range(10)) and file["small"][()] == 7


def test_any_program_for_hdf5_opens_a_sealed_file(numbers):
    path, read = numbers
    with h5py.File(path) as file:
        assert file["large"][49_999] == 49_999 and file["texts/one"].asstr()[()] == "some text"


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not a regular file"), open_sealed(tmp_path / "pipe", FORMAT):
        pass
    with pytest.raises(InputError, match="is a folder"), open_sealed(tmp_path, FORMAT):
        pass
    with pytest.raises(InputError, match="none: there is no such file"), open_sealed(tmp_path / "none", FORMAT):
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


def test_damaged_bins_beside_a_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.bins.1"
    writer = NumberFile(path)
    for number in range(3):
        writer.append([np.arange(200.0) + number])

    def read():
        file = NumberFile(path)
        file.open(writer.content, "remove it")
        return file.read(600).tobytes()

    added = fuzz(path, read)
    assert 0.7 * FILES < added < FILES  # what is behind the content that counts may be anything


def test_numbers_that_are_no_longer_there_are_an_error(tmp_path):
    path = tmp_path / "checkpoint.bins.1"
    file = NumberFile(path)
    file.append([np.arange(200.0)])
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DamagedFile, match="checkpoint.bins.1: damaged, or not the numbers .* 199 are left"):
        file.read(200)


@pytest.mark.parametrize("kind", ["input", "machine", "tuning"])
def test_damaged_texts_are_read_or_refused_in_one_line(tmp_path, kind, monkeypatch):
    path = tmp_path / "text"
    monkeypatch.setenv("PLAQ_COMM_TUNING", str(path))
    whole, read = {
        "input": (Parameters("input.toml", model={"U": 6.0}, dca={"temperatures": [0.1], "density": 0.95}).to_toml(),
                  lambda: Parameters.read(path)),
        "machine": (Machine().to_toml(), lambda: Machine.read(path)),
        "tuning": ("# head\n" + 40 * "reduce 4 0 tree 2 0\nscatter 8 512 tree 4 1024\n",
                   lambda: comm_tuning.rows_of_others([4])),
    }[kind]
    path.write_text(whole)
    assert told(read) is not None
    rng = np.random.default_rng(4)
    outcomes = []
    for _ in range(FILES):
        path.write_bytes(damaged(whole.encode(), rng)[1])
        outcomes.append(told(read) is None)
    assert 0.1 * FILES < sum(outcomes) < FILES
