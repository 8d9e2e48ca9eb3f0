"""What the installed package contains, and what it says of itself."""

import json
import re
import subprocess
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MADE_BY_THE_BUILD = r"plaq/kernels/[\w-]+/_core\.\S*so|plaq/_core/\w+\.pyi|plaq/commit\.txt"
IMPORT_ALL = """
import importlib, pkgutil, plaq
for module in pkgutil.walk_packages(plaq.__path__, "plaq.", onerror=print):
    if not module.name.endswith(("__main__", ".picmi")):
        importlib.import_module(module.name)
        print(module.name)
"""

NAMES = """
import json, sys
from plaq import _core
modules = {name.rpartition(".")[2]: module for name, module in sys.modules.items() if name.startswith("plaq._core")}
print(json.dumps({name: [own for own in vars(module) if own[0] != "_"] for name, module in modules.items()}))
"""


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def test_the_wheel_has_all_files_of_the_package_and_no_others(installed):
    recorded = {str(path) for path in PathDistribution(installed.metadata).files if str(path).startswith("plaq/")}
    shipped = {path for path in recorded if "__pycache__" not in path}
    tree = {str(Path(path).relative_to("python")) for path in git("ls-files", "python/plaq").splitlines()}
    assert {path for path in shipped - tree if not re.fullmatch(MADE_BY_THE_BUILD, path)} == set()
    assert tree - shipped == set()
    assert any(path.endswith("so") for path in shipped) and "plaq/commit.txt" in shipped


def test_every_module_can_be_imported_without_packages_of_the_tests(installed, tmp_path):
    look = "from importlib.util import find_spec as find; print(find('pytest'), find('hypothesis'))"
    assert installed.python(look, folder=tmp_path) == "None None\n"
    imported = installed.python(IMPORT_ALL, folder=tmp_path).split()
    assert {"plaq.dca", "plaq.pic", "plaq.lqcd", "plaq.comm", "plaq.trace"} <= set(imported) and len(imported) > 100


def test_decks_of_picmi_name_the_package_that_they_need(installed, tmp_path):
    done = installed.run("python", "-P", "-c", "from plaq.pic import picmi", folder=tmp_path)
    last = done.stderr.splitlines()[-1]
    assert last.endswith("InputError: plaq.pic.picmi needs the package picmistandard: pip install picmistandard")


def test_stubs_have_the_names_of_the_compiled_module(installed, tmp_path):
    modules = json.loads(installed.python(NAMES, folder=tmp_path))
    assert {"_core", "comm", "dca", "lqcd", "pic"} <= modules.keys()
    for module, names in modules.items():
        file = installed.package / "_core" / f"{module.replace('_core', '__init__')}.pyi"
        stub = file.read_text()
        missing = [name for name in names if not re.search(rf"(?m)^(def|class) {name}\b|^ *{name}(:| as )", stub)]
        assert not missing, file


def test_no_file_names_the_folder_that_it_was_built_in(installed):
    for file in installed.package.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert f"{ROOT}/".encode() not in file.read_bytes(), file


def test_version_and_commit_are_those_of_the_checkout(installed, tmp_path):
    said = installed.plaq("--version", folder=tmp_path).stdout
    assert PROJECT["version"] in said
    info = installed.plaq("info", folder=tmp_path).stdout
    commit = re.search(r"^commit:\s+(\S+)", info, re.M)[1]
    assert commit.removesuffix("-dirty") == git("rev-parse", "--short=12", "HEAD")


def test_no_part_that_comes_with_the_wheel_is_missing(installed, tmp_path):
    info = installed.plaq("info", folder=tmp_path).stdout
    assert re.search(r"^OTF2:\s+(?!none)\S", info, re.M), info


def test_metadata_agree_with_the_environment(installed, tmp_path):
    done = installed.run("python", "-P", "-m", "pip", "check", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    metadata = PathDistribution(installed.metadata).metadata
    assert metadata["Version"] == PROJECT["version"] and metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert any(installed.metadata.rglob("LICENSE"))
