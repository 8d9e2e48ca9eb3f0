"""The parameter table: reading, settings, messages, and the way back to TOML."""

import pickle
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaq.errors import InputError
from plaq.inputs import kinds, schema, table_kinds
from plaq.inputs.parameters import Parameters
from plaq.inputs.schema import REQUIRED, Parameter, Schema

TABLE = Schema(
    {"a": "First.", "b": "Second."},
    [
        Parameter("a", "count", kinds.integer(1), REQUIRED, "", "how many"),
        Parameter("a", "ratio", kinds.real("(0, 2)"), 0.5, "t", "how much"),
        Parameter("a", "word", kinds.choice("os", "fiber"), "os", "", "which"),
        Parameter("b", "limit", kinds.duration(), None, "s", "how long"),
        Parameter("b", "folder", kinds.folder(), "run", "", "where"),
        Parameter("b", "workers", kinds.one_of("auto", kinds.integer(1)), "auto", "", "how many workers"),
        Parameter(
            "b", "pairs", kinds.list_of(kinds.list_of(kinds.integer(), length=2)), [[0, 0]], "", "which pairs"
        ),
        Parameter("b", "table", table_kinds.displacements(kinds.real(), 9), None, "", "amplitudes"),
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
        ("b.folder=it's", "it's"),
        ('b.folder="[a]"', "[a]"),
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
        ('b.folder="a\\u0000b"', 'b.folder = "a\\u0000b" is not allowed'),
        ("b.folder='a", "b.folder = 'a: is not a TOML value"),
        ('b.folder="a" b', "is not a TOML value"),
        ("b.folder=[1", "is not a TOML value"),
        ("b.folder={a = 1", "is not a TOML value"),
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


NAMED = Schema({"constants": "Numbers by name.", "kind.*": "A kind.", "run": "How."}, [
    Parameter("constants", "*", kinds.real(), None, "", "a number"),
    Parameter("kind.*", "mass", kinds.real("(0, inf)"), REQUIRED, "m_e", "of one"),
    Parameter("kind.*", "charge", kinds.real(), -1.0, "e", "of one"),
    Parameter("run", "workers", kinds.integer(1), 1, "", "threads"),
])


def test_tables_with_names_of_the_input():
    values = NAMED.read({"kind": {"ions": {"mass": 1836}, "e": {"mass": 1, "charge": -2}}, "constants": {"n0": 2}},
                        "here")
    assert list(values["kind"]) == ["ions", "e"] and values["kind"]["ions"].mass == 1836.0
    assert values["kind"]["e"].charge == -2.0 and dict(values["constants"]) == {"n0": 2.0}
    assert values["run"].workers == 1
    assert NAMED.read(tomllib.loads(NAMED.to_toml(values)), "there") == values
    assert NAMED.by_key(values)["kind.ions.mass"] == 1836.0 and NAMED.by_key(values)["constants.n0"] == 2.0
    assert NAMED.read_setting("kind.ions.mass=4") == ("kind.ions", "mass", 4)
    assert NAMED.read_setting("constants.k=4") == ("constants", "k", 4)
    nothing = NAMED.read({}, "here")
    assert not nothing["kind"] and not nothing["constants"] and NAMED.read(tomllib.loads(NAMED.to_toml(nothing)),
                                                                           "") == nothing


@pytest.mark.parametrize("table, message", [
    ({"kind": {"ions": {}}}, "here: kind.ions.mass is missing: of one (a number > 0)"),
    ({"kind": {"ions": {"mass": -1}}}, "kind.ions.mass = -1 is not allowed: it must be a number > 0"),
    ({"kind": {"ions": {"mas": 1}}}, "unknown key kind.ions.mas; did you mean kind.ions.mass?"),
    ({"kind": {"ions": {"workers": 1}}}, "unknown key kind.ions.workers; did you mean run.workers?"),
    ({"kind": {"ions": 3}}, "kind.ions = 3 is not allowed: [kind.ions] is a section"),
    ({"kind": {"two words": {}}}, "[kind.two words]: a name has letters, digits and _"),
    ({"kind": 3}, "kind = 3 is not allowed: [kind.NAME] is a section"),
    ({"constants": {"n0": "x"}}, 'constants.n0 = "x" is not allowed: it must be a number'),
    ({"constants": {"n 0": 1}}, "unknown key constants.n 0"),
    ({"kinds": {}}, "unknown section [kinds]; did you mean kind?"),
    ({"sweeps": {}}, "unknown section [sweeps]; did you mean sweep?"),
    ({"zzz": {}}, ", sweep"),
])
def test_mistakes_in_tables_with_names(table, message):
    with pytest.raises(InputError) as error:
        NAMED.read(table, "here")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_application_of_an_input_has_the_fewest_misfits():
    mine = {"kind": {"a": {"mass": 1}}, "constants": {"n0": 1}, "sweep": {"kind.a.mass": [1, 2]}}
    assert NAMED.misfits(mine) == 0 and TABLE.misfits(mine) == 4  # kind.a, n0, what is swept, and a.count is missing
    assert NAMED.misfits({"kind": {"a": {"mas": 1}}, "a": {"count": 1}}) == 2


class NamedParameters(Parameters):
    SCHEMA = NAMED


def test_parameters_with_names_are_changed_and_compared_key_by_key():
    p = NamedParameters(kind={"ions": {"mass": 1836}, "e": {"mass": 1}})
    q = p.replace(constants={"n0": 3})
    ions = p.replace(kind={"ions": {"charge": 1}}).kind
    assert ions["ions"].mass == 1836 and ions["ions"].charge == 1 and list(ions) == ["ions", "e"]
    assert p.conflict(p.replace(run={"workers": 2})) is None and p != q and p.fingerprint() != q.fingerprint()
    assert p.conflict(q) == ("constants.n0", None, 3.0, "") and q.conflict(p) == ("constants.n0", 3.0, None, "")
    assert p.conflict(p.replace(kind={"ions": {"charge": 1}})) == ("kind.ions.charge", -1.0, 1.0, "")
    assert pickle.loads(pickle.dumps(q)) == q
    set_by_name = NamedParameters.from_tables({"kind": {"e": {"mass": 1}}}, "file", ["kind.e.mass=2", "constants.k=5"])
    assert set_by_name.kind["e"].mass == 2 and set_by_name.constants["k"] == 5
