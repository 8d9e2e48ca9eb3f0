"""The parameter table: reading, settings, messages, and the way back to TOML."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaq.errors import InputError
from plaq.inputs import kinds, schema
from plaq.inputs.schema import REQUIRED, Parameter, Schema

TABLE = Schema(
    {"a": "First.", "b": "Second."},
    [
        Parameter("a", "count", kinds.integer(1), REQUIRED, "", "how many"),
        Parameter("a", "ratio", kinds.real("(0, 2)"), 0.5, "t", "how much"),
        Parameter("a", "word", kinds.choice("os", "fiber"), "os", "", "which"),
        Parameter("b", "limit", kinds.duration(), None, "s", "how long"),
        Parameter("b", "workers", kinds.one_of("auto", kinds.integer(1)), "auto", "", "how many workers"),
        Parameter(
            "b", "pairs", kinds.list_of(kinds.list_of(kinds.integer(), length=2)), [[0, 0]], "", "which pairs"
        ),
        Parameter("b", "table", kinds.displacements(kinds.real(), 9), None, "", "amplitudes"),
    ],
)


def read(**sections):
    return TABLE.read(sections, "file.toml")


def test_defaults_and_types():
    values = read(a={"count": 3, "ratio": 1})
    assert (values["a"].count, values["a"].ratio, values["a"].word) == (3, 1.0, "os")
    assert isinstance(values["a"].ratio, float)
    assert values["b"].limit is None and values["b"].pairs == ((0, 0),)


@pytest.mark.parametrize(
    "sections, message",
    [
        ({}, "file.toml: a.count is missing: how many (an integer ≥ 1)"),
        ({"a": {"count": 0}}, "file.toml: a.count = 0 is not allowed: it must be an integer ≥ 1"),
        ({"a": {"count": True}}, "a.count = true is not allowed"),
        ({"a": {"count": "3"}}, 'a.count = "3" is not allowed'),
        ({"a": {"count": 1, "ratio": 2.0}}, "a.ratio = 2.0 is not allowed: it must be a number in (0, 2)"),
        ({"a": {"count": 1, "ratio": float("nan")}}, "a.ratio = nan is not allowed"),
        ({"a": {"count": 1, "word": "fibre"}}, 'a.word = "fibre" is not allowed: it must be "os" or "fiber"'),
        ({"a": {"count": 1, "cuont": 2}}, "unknown key a.cuont; did you mean a.count?"),
        ({"a": {"count": 1, "workers": 2}}, "unknown key a.workers; did you mean b.workers?"),
        ({"a": {"count": 1, "Ratio": 1.0}}, "unknown key a.Ratio; did you mean a.ratio?"),
        ({"a": {"count": 1, "zzz": 1.0}}, "unknown key a.zzz; known are a.count, a.ratio"),
        ({"c": {}}, "unknown section [c]; "),
        ({"a": 3}, "a = 3 is not allowed: [a] is a section"),
        ({"a": {"count": 1}, "b": {"limit": "1:xx"}}, 'b.limit = "1:xx" is not allowed'),
        ({"a": {"count": 1}, "b": {"limit": -5}}, "b.limit = -5 is not allowed"),
        ({"a": {"count": 1}, "b": {"workers": "all"}}, 'must be "auto" or an integer ≥ 1'),
        ({"a": {"count": 1}, "b": {"pairs": [[1, 2, 3]]}}, "b.pairs = [[1, 2, 3]] is not allowed"),
        ({"a": {"count": 1}, "b": {"table": {"1;0": 1.0}}}, 'b.table = { "1;0" = 1.0 } is not allowed'),
    ],
)
def test_each_mistake_has_its_message(sections, message):
    with pytest.raises(InputError) as error:
        read(**sections)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text, seconds", [("90", None), ("01:30", 90.0), ("1:00:00", 3600.0), (12, 12.0), (1.5, 1.5)]
)
def test_duration(text, seconds):
    if seconds is None:
        with pytest.raises(InputError):
            read(a={"count": 1}, b={"limit": text})
    else:
        assert read(a={"count": 1}, b={"limit": text})["b"].limit == seconds


@pytest.mark.parametrize(
    "setting, value",
    [
        ("a.count=4", 4),
        ("a.ratio = 0.25", 0.25),
        ("a.word=fiber", "fiber"),
        ('a.word="fiber"', "fiber"),
        ("b.pairs=[[1, 2]]", [[1, 2]]),
        ("b.limit=none", None),
        ("b.limit=10:00", "10:00"),
        ("b.workers=auto", "auto"),
    ],
)
def test_setting(setting, value):
    section, name, parsed = TABLE.read_setting(setting)
    assert f"{section}.{name}" == setting.partition("=")[0].strip() and parsed == value


@pytest.mark.parametrize(
    "setting, message",
    [
        ("a.count", "write it as section.key=value"),
        ("a.coutn=3", "did you mean a.count?"),
        ("a.count=many", 'a.count = "many" is not allowed'),
        ("a.count=none", 'a.count = "none" is not allowed'),
    ],
)
def test_bad_setting(setting, message):
    with pytest.raises(InputError, match="--set") as error:
        TABLE.read_setting(setting)
    assert message in str(error.value)


@given(
    count=st.integers(1, 2**60),
    ratio=st.floats(0, 2, exclude_min=True, exclude_max=True),
    word=st.sampled_from(["os", "fiber"]),
    pairs=st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9))),
    limit=st.none() | st.floats(1e-3, 1e9),
    table=st.none()
    | st.dictionaries(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), st.floats(-1, 1), min_size=1, max_size=9),
)
def test_toml_reads_back_to_the_same_values(count, ratio, word, pairs, limit, table):
    content = {
        "a": {"count": count, "ratio": ratio, "word": word},
        "b": {"pairs": pairs, "limit": limit, "table": table},
    }
    values = TABLE.read(content, "here")
    assert TABLE.read(tomllib.loads(TABLE.to_toml(values)), "there") == values


@given(st.text())
def test_any_text_survives_toml(text):
    assert tomllib.loads(f"x = {schema.to_toml(text)}")["x"] == text


def test_time_of_day_is_a_duration():
    assert read(a={"count": 1}, b=tomllib.loads("limit = 00:10:00"))["b"].limit == 600.0


def test_docs_page_has_every_key():
    page = TABLE.markdown("Title")
    assert all(f"| `{parameter.name}` |" in page for parameter in TABLE.parameters.values())
