"""Inputs as people write them: every spelling of a value, and for what is wrong one line that names it."""

import threading

import pytest
import synthetic
from test_cli import INPUT, one_error, plaq

from plaq import dca
from plaq.dca.application import Dca
from plaq.dca.parameters import Parameters
from plaq.errors import InputError
from plaq.inputs.schema import Option, read_toml
from plaq.run import sweep
from plaq.run.stop import Stop

DEEP = "[" * 2000 + "]" * 2000


BASE = {"model.U": "4.0", "dca.temperatures": "[1.0]", "dca.density": "1.0"}


@pytest.mark.parametrize("key, value, part", [
    ("dca.iterations", "9" * 400, "dca.iterations = an integer of more than 40 digits is not allowed"),
    ("dca.density", "9" * 400, "dca.density = an integer of more than 40 digits is not allowed"),
    ("dca.iterations", "9" * 5000, "an integer of too many digits"),
    ("dca" + ".a" * 20000, "1", "a key of a hundred parts"),
    ("dca.iterations", DEEP, "nested too deeply"),
    ("model.t_prime", "1e308", "model.t_prime = 1e+308 is not allowed: it must be a number in [-1000, 1000]"),
    ("dca.mu", "1e300", "dca.mu = 1e+300 is not allowed: it must be a number in [-1e5, 1e5]"),
    ("run.bind", '"0-99999999999"', 'run.bind = "0-99999999999" is not allowed'),
    ("run.bind", '"0-60000,1-60000"', "run.bind"),
    ("run.folder", '"a\\u0000b"', 'run.folder = "a\\u0000b" is not allowed: it must be a path of one line'),
    ("run.folder", f'"{"n" * 300}"', "names in it up to 255 bytes"),
    ("run.folder", '""', 'run.folder = "" is not allowed'),
    ("solver.measurements", "1.5", "solver.measurements = 1.5 is not allowed"),
    ("model.hopping", '{ "1,0" = -1.0, "1, 0" = -2.0 }', '"1, 0" = -2.0 } is not allowed'),
    ("model.hopping", '{ "1,0" = 1e308 }', "each a number in [-1000, 1000]"),
    ("dca.temperatures", str([1.0 + i for i in range(1001)]), "a list that is not empty, of at most 1000 values"),
])
def test_values_too_large_or_too_deep_and_wrong_names(tmp_path, key, value, part):
    (tmp_path / "input.toml").write_text("\n".join(f"{k} = {v}" for k, v in {**BASE, key: value}.items()))
    with pytest.raises(InputError) as error:
        sweep.read(Dca, tmp_path / "input.toml")
    message = str(error.value)
    assert message.startswith(f"{tmp_path}/input.toml: ") and part in message
    assert len(message.splitlines()) == 1 and len(message) < 800 + len(str(tmp_path))


def with_rest(sections):
    base = {"model": {"U": 4}, "dca": {"density": 1.0, "temperatures": [1.0]}}
    return sections | {name: {**base[name], **sections.get(name, {})} for name in base}


def test_keys_and_values_from_python_that_no_file_can_have():
    deep = []
    for _ in range(2000):
        deep = [deep]
    for sections, part in [
        ({"dca": {"iterations": deep}}, "dca.iterations = [[[[[[[[[…]]]]]]]]] is not allowed"),
        ({"dca": {"temperatures": deep}}, "dca.temperatures"),
        ({"model": {"U": 10**5000}}, "model.U = an integer of more than 40 digits is not allowed"),
        ({"model": {"hopping": {(1, 0.5): 1.0}}}, "model.hopping"),
        ({"model": {"U\n": 1}}, 'unknown key "model.U\\n"; did you mean model.U?'),
        ({"model": {"U": "x\u2028\x85\x00"}}, 'model.U = "x\\u2028\\x85\\u0000" is not allowed'),
        ({"x" * 10**6: {}}, "unknown section ["),
    ]:
        with pytest.raises(InputError) as error:
            Parameters(**with_rest(sections))
        assert part in str(error.value) and len(str(error.value)) < 1000 and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("sections, part", [
    ({"dca": {"temperatures": [1.0, 1e-4]}}, "dca.temperatures holds 0.0001: with a bath and this hopping"),
    ({"model": {"t": 1000.0}}, "at least 2 is allowed"),
    ({"model": {"hopping": {"64,0": 10.0}}}, "whose band is as steep as 1280 times a, at least 1.28 is allowed"),
    ({"dca": {"temperatures": [1e-4], "density": None, "mu": 1e5, "isolated": True}}, "at least 0.001 is allowed"),
])
def test_combinations_that_are_hopeless(sections, part):
    with pytest.raises(InputError) as error:
        Parameters(**with_rest(sections))
    assert part in str(error.value)
    assert Parameters(model={"U": 4}, dca={"temperatures": [1e-4], "mu": 2.0, "isolated": True}).dca.isolated


def test_a_whole_number_may_be_written_as_a_float():
    p = synthetic.parameters(solver={"measurements": 1e5, "chains": 16.0, "seed": 1e18})
    assert (p.solver.measurements, p.solver.chains, p.solver.seed) == (100_000, 16, 10**18)
    assert isinstance(p.solver.measurements, int) and "measurements = 100000  #" in p.to_toml()
    assert p.fingerprint() == synthetic.parameters(solver={"measurements": 100_000, "seed": 10**18}).fingerprint()


def test_a_mark_at_the_start_of_the_file_is_no_part_of_it(tmp_path):
    (tmp_path / "input.toml").write_bytes(b"\xef\xbb\xbf" + INPUT.encode())
    assert sweep.read(Dca, tmp_path / "input.toml")[""].model.U == 6.0


def test_files_that_are_no_input(tmp_path):
    for content, part in [(b"\xff\xfe[model]", "byte 0 is not UTF-8 text"), (b"a = 1\n" + b"#" * 2**20, "longer than"),
                          (b"[model\n", "not a TOML file"), (b"\0", "not a TOML file")]:
        (tmp_path / "input.toml").write_bytes(content)
        with pytest.raises(InputError, match=part):
            read_toml(tmp_path / "input.toml")
    for path, part in [(tmp_path, "Is a directory"), ("a\0b", "null byte"), ("x" * 300, "name too long"),
                       ("/dev/zero", "longer than"), ("\udcff.toml", "there is no such file")]:
        with pytest.raises(InputError, match=part):
            read_toml(path)


def test_an_input_whose_name_is_not_utf8(tmp_path):
    path = tmp_path / "caf\udce9.toml"
    path.write_text(INPUT)
    assert sweep.read(Dca, path)[""].model.U == 6.0


@pytest.mark.parametrize("name, key, text, value", [
    ("--out", "run.folder", "2024", "2024"),
    ("--out", "run.folder", "1e4", "1e4"),
    ("--out", "run.folder", "true", "true"),
    ("--out", "run.folder", '"x"', '"x"'),
    ("--walltime", "run.walltime", "1e4", 1e4),
    ("--walltime", "run.walltime", "60", 60.0),
    ("--walltime", "run.walltime", "1:00:00", 3600.0),
    ("--workers", "run.workers", "2", 2),
    ("--workers", "run.workers", "auto", "auto"),
    ("--bind", "run.bind", "3", "3"),
    ("--bind", "run.bind", "0,2-4", "0,2-4"),
])
def test_options_are_read_as_their_parameter_is(tmp_path, name, key, text, value):
    (tmp_path / "input.toml").write_text(INPUT)
    section, _, attribute = key.partition(".")
    run = sweep.read(Dca, tmp_path / "input.toml", [Option(name, key, text)])[""]
    assert getattr(run.run, attribute) == value


def test_a_setting_is_toml_or_the_text_that_its_parameter_takes(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    for text, value in [("2024", "2024"), ('"2024"', "2024"), ("a b", "a b"), ("1e4", "1e4")]:
        assert sweep.read(Dca, tmp_path / "input.toml", [f"run.folder={text}"])[""].run.folder == value
    for setting, part in [("solver.seed=1\nsolver.chains=2", "--set: solver.seed = "),
                          ("run.folder=", '--set: run.folder = ""'),
                          (f"solver.seed={DEEP}", "--set solver.seed"),
                          ("solver.seed=" + "9" * 5000, "--set: solver.seed")]:
        with pytest.raises(InputError) as error:
            sweep.read(Dca, tmp_path / "input.toml", [setting])
        assert part in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("arguments, part", [
    (("--workers", "0"), "--workers: run.workers = 0 is not allowed"),
    (("--threads", "3"), "--threads: run.threads = 3 is not allowed"),
    (("--out", ""), '--out: run.folder = "" is not allowed: it must be a path'),
    (("--out", "n" * 300), "--out: run.folder"),
    (("--out", "caf\udce9"), "--out: run.folder"),
    (("--walltime", "-1"), "--walltime: run.walltime = -1 is not allowed"),
    (("--bind", "0-99999999999"), "--bind: run.bind"),
])
def test_errors_name_the_option_that_was_typed(folder, arguments, part):
    one_error(plaq(folder, "dca", "run", "input.toml", *arguments), 2, part)
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_a_folder_with_a_number_for_a_name(folder):
    assert plaq(folder, "dca", "run", "input.toml", "--out", "2024", FAKE_STEPS="1").returncode == 0
    assert (folder / "2024" / "results.h5").exists()


def test_names_of_a_sweep_fit_into_a_folder(tmp_path):
    lists = [[1.0 + i + j / 100 for i in range(200)] for j in range(2)]
    (tmp_path / "input.toml").write_text(INPUT + f'[sweep]\n"dca.temperatures" = {lists}\n"model.U" = [4, 5]\n')
    names = list(sweep.read(Dca, tmp_path / "input.toml"))
    assert len(set(names)) == 4 and all(name.startswith("temperatures=[1.") and len(name) < 100 for name in names)
    for name in names:
        (tmp_path / name).mkdir()


def test_combinations_of_a_sweep_are_counted_before_they_are_made(tmp_path):
    values = list(range(1, 1001))
    (tmp_path / "input.toml").write_text(
        INPUT + f'[sweep]\n"solver.seed" = {values}\n"solver.warmup" = {values}\n"model.U" = {values}\n')
    with pytest.raises(InputError, match="1000000000 combinations: at most 10000 are allowed"):
        sweep.read(Dca, tmp_path / "input.toml")


def test_two_spellings_of_one_run_are_one_run_too_many(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT + '[sweep]\n"solver.measurements" = [100000, 1e5]\n')
    with pytest.raises(InputError, match="has measurements=100000.0 twice"):
        sweep.read(Dca, tmp_path / "input.toml")


def test_a_series_without_measurements_is_an_error_that_names_the_others():
    results = synthetic.results()
    assert len(results.series("sign")[0]) > 0
    with pytest.raises(KeyError, match="no 'nope' at any temperature; there are .*density.*sign"):
        results.series("nope")


def test_a_run_in_another_thread_needs_no_signals():
    p = Parameters(model={"U": 2}, dca={"temperatures": [1.0], "mu": 1.0, "isolated": True}, solver={"kind": "ed"},
                   two_particle={"channels": []})
    found = []
    thread = threading.Thread(target=lambda: found.append(dca.run(p)))
    thread.start()
    thread.join()
    assert found[0].at(1.0)["density"].mean == pytest.approx(1.0)


def test_outside_the_main_thread_the_limit_still_counts():
    said = []

    def body():
        with Stop(1e-9) as stop:
            said.append(stop.requested())

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert said == ["walltime"]
