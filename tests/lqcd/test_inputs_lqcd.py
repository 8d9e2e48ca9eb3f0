"""Inputs that nobody would write: a line or a description, whatever is changed in those of examples and docs."""

import random
import resource
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

from plaq.errors import InputError
from plaq.inputs.schema import to_toml
from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import SCHEMA
from plaq.run import sweep

ROOT = Path(__file__).parents[2]
MESSAGE = 2000  # characters, the path apart: a key that is none is answered by the names of all
NUMBERS = [0, 1, -1, 2, 3, 7, 2**31, 2**63 - 1, 2**63,
           10**40, -(2**63), 0.0, -0.0, 0.5, 1.0, 1e-9, 1e-60, 1e-300, 5e-324,
           1e300, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 1 - 2**-53,
           1000, 1024, 10**6, 10**7, 10**8]
OTHERS = [True, False, "", "auto", "none", "x" * 3000,
          "\u2028", "\x00", "ä", "0,1", "1:2", [], [[]], {}, {"a": 1},
          [1] * 5000, [0.1] * 9, ["gamma5"] * 2000,
          [4, 4, 4, 4], [2, 1024, 1024, 1024], [1024] * 4, [0.01, 5], [5e-324, 1e-300]]
KEYS = [key.replace("*", "a") for key in SCHEMA.parameters]


def inputs():
    """All of the tree, as tables: of examples, of the tutorial, and one with every section."""
    texts = [(ROOT / f"examples/{name}/input.toml").read_text() for name in ("quenched", "dynamical")]
    texts += [part.split("```")[0].partition("\n")[2] for page in ("lqcd.md", "lqcd_tutorial.md")
              for part in (ROOT / "docs" / page).read_text().split("```toml")[1:]]
    rich = {"lattice": {"extents": [8, 4, 4, 4]}, "action": {"beta": 5.6},
            "quarks": {"light": {"kappa": 0.15, "masses": [0.1, 0.3]},
                       "strange": {"flavours": 1, "kappa": 0.14, "range": [0.01, 5], "correction": True},
                       "heavy": {"kappa": 0.13, "mu": 0.2, "epsilon": 0.1, "range": [0.01, 9], "split": [4, 8]}},
            "updates": {"algorithm": "hmc"}, "hmc": {"steps": [2] * 7, "integrator": ["omf4"]},
            "loops": {"a": {"space": 2, "time": 3, "ape_steps": 2}},
            "mesons": {"a": {"kappa": 0.14, "fit_from": 1, "gauss_source": 3}, "b": {"kappa": 0.13, "every": 3}},
            "flow": {"a": {"time": 1.0}}, "run": {"folder": "run"}}
    return [flat(tables) for tables in (*map(tomllib.loads, texts), rich)]


def flat(tables):
    """Sections by their full names, ``mesons.a``."""
    return {section: content for family, inner in tables.items()
            for section, content in ({f"{family}.{name}": part for name, part in inner.items()}
                                     if f"{family}.*" in SCHEMA.sections else {family: inner}).items()}


def value(rng, before):
    """Another one for a key: often near what it was."""
    how = rng.random()
    if isinstance(before, list) and before and how < 0.4:
        changed = list(before)
        changed[rng.randrange(len(changed))] = value(rng, changed[0])
        return changed if rng.random() < 0.8 else changed * rng.randrange(4)
    if isinstance(before, (int, float)) and not isinstance(before, bool) and how < 0.4:
        return before * rng.choice([-1, 0.5, 2, 10, 1e3, 1e-3, 1e-12, 1e12])
    if how < 0.8:
        return rng.choice(NUMBERS)
    return rng.choice(OTHERS)


def mutant(rng, tables):
    """The text of an input after one to four changes of keys, sections or names."""
    tables = {section: dict(content) for section, content in rng.choice(tables).items()}
    for _ in range(rng.choice([1, 1, 2, 4])):
        section, how = rng.choice(list(tables) or ["run"]), rng.random()
        if not isinstance(content := tables.get(section), dict):
            continue
        key = rng.choice(list(content) or [""])
        if how < 0.5:
            content[key] = value(rng, content.get(key))
        elif how < 0.8:
            section, _, key = rng.choice(KEYS).rpartition(".")
            place = tables.setdefault(section, {})
            if isinstance(place, dict):
                place[key] = value(rng, place.get(key))
        elif how < 0.85:
            content.pop(key, None)
        elif how < 0.9:
            content[rng.choice(["", "ä", key + "s", key.upper(), "x" * 500, "a.b", "\n"])] = content.pop(key, 1)
        elif how < 0.93:
            del tables[section]
        elif how < 0.96:
            tables[rng.choice(["", "ä", section + "s", "sweep", "x" * 500])] = tables.pop(section)
        else:
            tables["sweep"] = {rng.choice(KEYS): value(rng, [1, 2])}
    header = lambda section: ".".join(map(to_toml, section.split(".")))  # noqa: E731
    text = "\n".join(f"[{header(section)}]\n" + "\n".join(f"{to_toml(key)} = {to_toml(one)}"
                                                           for key, one in content.items())
                     for section, content in tables.items() if isinstance(content, dict))
    if rng.random() < 0.02:  # a line twice, or one cut short
        lines = text.splitlines()
        at = rng.randrange(len(lines) or 1)
        twice = "\n".join(lines[:at] + lines[at:at + 1] * 2 + lines[at + 1:])
        text = twice if rng.random() < 0.5 else text[:-rng.randrange(9)]
    return text


def looked_at(path, text):
    """What `plaq lqcd check` does with an input: its description, or the one line that refuses it."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return "".join(sweep.headline(name) + Lqcd(parameters).describe()
                           for name, parameters in sweep.read(Lqcd, path, []).items())
        except InputError as error:
            words = str(error)
    assert words.isprintable() and len(words) < len(str(path)) + MESSAGE, words[:3000]
    return None


@pytest.mark.parametrize("seed", range(2))
def test_changed_inputs_are_described_or_refused_in_a_line(tmp_path, seed):
    rng, tables = random.Random(seed), inputs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    described = sum(looked_at(tmp_path / "input.toml", mutant(rng, tables)) is not None for _ in range(400))
    assert 20 < described < 200
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000 * (sys.platform == "linux")  # kB


@pytest.mark.parametrize("settings, words", [
    (("flow.w.time=1", "flow.w.step=1e-9"), "flow.w.step = 1e-09 is not allowed: it must be a number in [1e-6, 0.1]"),
    (("flow.w.time=1", "flow.w.step=1e-60"), "flow.w.step = 1e-60 is not allowed"),
    (("flow.w.time=1", "flow.w.step=5e-324"), "flow.w.step = 5e-324 is not allowed"),
    (("flow.w.time=1", "flow.w.step=1e-5"),
     "flow.w.step = 1e-05 is not allowed with time = 1: the flow takes at most 10000"),
    (("flow.w.time=5e-324",), "flow.w.time = 5e-324 is not allowed"),
    (("quarks.heavy.kappa=5e-324", "updates.algorithm=hmc"),
     "heavy.kappa = 5e-324 is not allowed: it must be a number in [1e-6, 1)"),
    (("quarks.heavy.kappa=1e-308", "updates.algorithm=hmc"), "heavy.kappa = 1e-308 is not allowed"),
    (("quarks.light.kappa=0.1", "quarks.light.mu=1e300"), "quarks.light.mu = 1e+300 is not allowed"),
    (("mesons.heavy.residual=5e-324",), "mesons.heavy.residual = 5e-324 is not allowed"),
    (("updates.algorithm=hmc", "quarks.light.kappa=0.1", "hmc.steps=[10000, 10000]"),
     "a trajectory moves links at most 10000000"),
    (("mesons.heavy.structures=" + str(["gamma5"] * 9000),), "must not repeat a value"),
    (("updates.algorithm=hmc", "hmc.steps=" + str([1] * 9000)), "one number for each term of the action"),
])
def test_numbers_that_cannot_be_worked_with_are_refused_in_a_line(settings, words):
    with pytest.raises(InputError) as refused:
        sweep.read(Lqcd, ROOT / "examples/quenched/input.toml", settings)
    assert words in str(refused.value) and len(str(refused.value)) < 600
