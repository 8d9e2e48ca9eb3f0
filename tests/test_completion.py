"""Names complete: in editors by stubs, in IPython, and in shells."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import plaq
from plaq import dca, lqcd, pic

ROOT = Path(__file__).resolve().parents[1]
PLAQ = (sys.executable, "-c", "import sys; sys.argv[0] = 'plaq'; from plaq.main import main; main()")
STUBS = runpy.run_path(ROOT / "packaging/stubs.py")


@pytest.mark.parametrize("package", STUBS["PACKAGES"])
def test_stubs_have_the_public_names(package):
    path = STUBS["path"](package)
    assert path.read_text() == STUBS["stub"](package), "run: python packaging/stubs.py"
    assert (Path(plaq.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("with_jedi", [True, False])
def test_ipython_completes_packages_and_results(with_jedi):
    from IPython.core.completer import IPCompleter, provisionalcompleter

    namespace = {"plaq": plaq, "lqcd": lqcd, "dca": dca, "results": lqcd.Results({})}
    completer = IPCompleter(namespace=namespace, use_jedi=with_jedi)
    completer.use_jedi = with_jedi

    def completed(text):
        with provisionalcompleter():
            return {found.text.rpartition(".")[2] for found in completer.completions(text, len(text))}

    assert completed("lqcd.") >= {"GaugeField", "Parameters", "run", "sweep", "estimate"}
    assert completed("plaq.lqcd.") == completed("lqcd.") and "Point" in completed("dca.")
    assert completed("results.") >= {"answers", "estimates", "recorded"}
    assert completed("lqcd.Gau") == {"GaugeField"}


def test_an_editor_knows_arguments_and_what_a_call_returns():
    """By jedi, which reads files only; the finder of an editable install would hide them from it."""
    script = f"""
import sys
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import jedi
path = [{str(Path(plaq.__file__).parents[1])!r}, *sys.path]
project = jedi.Project({str(ROOT)!r}, sys_path=path, smart_sys_path=False)
read = lambda text: jedi.Script(text, project=project, environment=jedi.InterpreterEnvironment())
print(*(name.name for name in read("from plaq import lqcd\\nlqcd.").complete()))
print(read("from plaq import dca\\ndca.run(").get_signatures()[0].to_string())
print(*(name.name for name in read("from plaq import dca\\nr = dca.load('run')\\nr.").complete()))
print(*(name.name for name in read("from plaq import dca\\nr = dca.estimate(0)\\nr.").complete()))
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, timeout=300, text=True, capture_output=True)
    names, signature, results, forecast = told.stdout.splitlines()
    assert {"GaugeField", "run", "Wilson"} <= set(names.split())
    assert signature.startswith("run(parameters") and "progress" in signature
    assert {"at", "series", "tc"} <= set(results.split())
    assert {"seconds", "memory", "efficiency"} <= set(forecast.split())


def completed_in_bash(words):
    environment = {**os.environ, "_PLAQ_COMPLETE": "complete_bash", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split(" ")) - 1)}
    told = subprocess.run(PLAQ, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return told.stdout.split()


def test_the_shell_completes_commands_and_keys():
    assert completed_in_bash("plaq lq") == ["lqcd"]
    assert {"run", "plot", "export", "estimate"} <= set(completed_in_bash("plaq pic "))
    assert completed_in_bash("plaq new ") == ["dca", "lqcd", "pic"]
    assert completed_in_bash("plaq lqcd run input.toml --set action.") == ["action.beta", "action.gauge", "action.cG"]
    species = completed_in_bash(f"plaq pic run {ROOT}/examples/two_stream/input.toml --set species.")
    assert {"species.right.density", "species.left.per_cell"} <= set(species)
    assert completed_in_bash("plaq pic run missing.toml --set species.new.charg") == ["species.new.charge"]
    assert completed_in_bash("plaq pic run in") == []  # files are the shell's own


def test_completion_can_be_installed(tmp_path):
    for shell in ("bash", "zsh"):
        shown = subprocess.run([*PLAQ, "--show-completion", shell], capture_output=True, text=True, timeout=120,
                               env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
        assert shown.returncode == 0 and "_PLAQ_COMPLETE" in shown.stdout, shown.stderr
    assert {"Parameters", "run"} <= set(dir(pic))
