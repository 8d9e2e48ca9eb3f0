"""The JSON Schema of an input allows what the table allows, and refuses what an editor can see to be wrong."""

import datetime
import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from plaq import dca, lqcd, pic
from plaq.errors import InputError
from plaq.inputs.json_schema import json_schema, schema_text
from plaq.main import APPLICATIONS

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = {"dca": dca.Parameters, "lqcd": lqcd.Parameters, "pic": pic.Parameters}
CHECKED = {name: Draft7Validator(json_schema(kind.SCHEMA, f"plaq {name}")) for name, kind in PARAMETERS.items()}
MARK = "#:schema ../../docs/schemas/"
EXAMPLES = {path: text.splitlines()[0] for path in sorted((ROOT / "examples").glob("*/*.toml"))
            if "[machine]" not in (text := path.read_text())}
GOOD = {
    "dca": """
[model]
U = 4
hopping = { "1,0" = -1.0, " 0, 1" = -1 }
[dca]
temperatures = [1, 0.5]
density = 0.9
[solver]
measurements = 1e4
measure_every = "auto"
[run]
walltime = 01:30:00
bind = "0,2-5"
device = 0
""",
    "lqcd": """
[lattice]
extents = [4, 4, 4, 4]
[action]
beta = 6
gauge = -0.1
[quarks.light]
kappa = 0.14
theta = [1, 0, 0, 0.5]
[updates]
algorithm = "hmc"
[hmc]
steps = [2, 2]
integrator = ["2mn", "omf4"]
[run]
grid = "auto"
walltime = "30:00"
""",
    "pic": """
[grid]
cells = 64
length = [12.5]
patches = "auto"
[time]
end = 4
[constants]
u = 0.2
[boundaries]
x = ["conducting", "absorbing"]
potential_x = [0, 1]
[species.e]
charge = -1
mass = 1
density = "1 + x"
per_cell = 10
temperature = 0.01
drift = ["u", 0, 0]
""",
}
BAD = [
    ("dca", "[model]\nU = 4", "[model]\nU = -1001", "-1001 is not valid under any of the given schemas"),
    ("dca", "[model]\n", "[model]\nclusters = 3\n", "'clusters' was unexpected"),
    ("dca", "[solver]", "[sovler]", "'sovler' was unexpected"),
    ("dca", "density = 0.9", "density = true", "True is not of type 'number'"),
    ("dca", "temperatures = [1, 0.5]\n", "", "'temperatures' is a required property"),
    ("dca", '" 0, 1"', '"up"', "'up' does not match"),
    ("dca", "01:30:00", '"soon"', "'soon' is not valid under any of the given schemas"),
    ("lqcd", "[4, 4, 4, 4]", "[4, 4, 4]", "is too short"),
    ("lqcd", "[4, 4, 4, 4]", "[4, 4, 4.5, 4]", "4.5 is not of type 'integer'"),
    ("lqcd", '"hmc"', '"HMC"', "'HMC' is not one of"),
    ("lqcd", "extents = [4, 4, 4, 4]\n", "", "'extents' is a required property"),
    ("pic", "charge = -1\n", "", "'charge' is a required property"),
    ("pic", "[species.e]", "[species.2e]", "'2e' does not match"),
    ("pic", '"absorbing"]', '"absorbed"]', "is not valid under any of the given schemas"),
]


def errors(name, text):
    """Messages on a text, in which a time of day is the text that editors make of it."""
    tables = tomllib.loads(text)
    for content in tables.values():
        content.update({key: value.isoformat() for key, value in content.items() if isinstance(value, datetime.time)})
    return [error.message for error in CHECKED[name].iter_errors(tables)]


def readable(name, text):
    """Whether the table of parameters reads the text."""
    try:
        PARAMETERS[name].SCHEMA.read(tomllib.loads(text), "text")
    except InputError:
        return False
    return True


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_schema_is_one_and_that_of_the_docs(name):
    Draft7Validator.check_schema(CHECKED[name].schema)
    page = ROOT / f"docs/schemas/{name}.json"
    assert page.read_text() == schema_text(PARAMETERS[name].SCHEMA, f"plaq {name}"), (
        f"run: plaq {name} parameters --schema > docs/schemas/{name}.json")
    assert json.loads(page.read_text())["$schema"].startswith("http://json-schema.org/draft-07")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_names_its_schema_and_is_valid(path):
    line = EXAMPLES[path]
    assert line.startswith(MARK) and (path.parent / line.removeprefix("#:schema ")).resolve().exists()
    assert not errors(line.removeprefix(MARK).removesuffix(".json"), path.read_text())


@pytest.mark.parametrize("name", PARAMETERS)
def test_good_inputs_and_first_inputs_are_valid(name):
    for text in (GOOD[name], APPLICATIONS[name].first_input.read_text()):
        assert not errors(name, text) and readable(name, text)


@pytest.mark.parametrize("name, before, after, words", BAD)
def test_bad_inputs_are_refused_by_both(name, before, after, words):
    assert GOOD[name].count(before) == 1
    text = GOOD[name].replace(before, after)
    assert not readable(name, text) and any(words in message for message in errors(name, text)), errors(name, text)


def test_every_default_is_valid_and_every_key_has_its_unit_and_meaning():
    for name, kind in PARAMETERS.items():
        for parameter in kind.SCHEMA.parameters.values():
            family = parameter.section.removesuffix(".*")
            place = CHECKED[name].schema["properties"][family]
            place = place["additionalProperties"] if parameter.section.endswith(".*") else place
            content = place["additionalProperties"] if parameter.name == "*" else place["properties"][parameter.name]
            assert parameter.doc in content["description"] and parameter.unit in content["description"]
            if "default" in content:
                assert not list(Draft7Validator(content).iter_errors(content["default"])), parameter.key


def test_a_sweep_may_give_what_is_missing_and_has_lists_of_allowed_values():
    swept = GOOD["dca"].replace("U = 4\n", "") + '[sweep]\n"model.U" = [4, 6]\n'
    assert not errors("dca", swept)
    assert errors("dca", swept.replace("[4, 6]", "6")) and errors("dca", swept.replace("6]", "-6000]"))
    assert errors("dca", swept.replace("model.U", "run.workers")) and errors("dca", swept.replace("model.U", "model.V"))
    assert not errors("pic", GOOD["pic"] + '[sweep]\n"species.e.per_cell" = [10, 20]\n"constants.u" = [0.1]\n')
    assert errors("pic", GOOD["pic"] + '[sweep]\n"species.e.per_cells" = [10, 20]\n')
