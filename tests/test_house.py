"""House rules that a machine can check: dependencies between parts, and the size of files."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "plaq"

# base <- trace <- task <- {linalg, gpu, comm} <- {batch, collection} <- fft <- {dca, pic, lqcd} <- bindings
FLOORS = [["base"], ["trace"], ["task"], ["linalg", "gpu", "comm"], ["batch", "collection"], ["fft"],
          ["dca", "pic", "lqcd"]]
FLOOR = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}

# Parts that are cut into rooms: folders of their own, or files by their stem. In comm, wire and schedules know nothing
# of each other; mpi and device make wires, messages and collectives use them, job joins all.
ROOMS = {"comm": [["wire", "schedules"], ["mpi", "device", "messages", "collectives"], ["job"]],
         "dca": [["channels", "momenta", "walk"], ["problem"], ["streams"], ["measure"], ["chain", "reference"],
                 ["advance", "device"], ["solver"], ["ctint"]],
         "lqcd": [["lattice"], ["gauge", "reference"], ["dirac"], ["solver"], ["device"]],
         "pic": [["mesh"], ["particles", "fields"], ["patch", "reference"], ["poisson", "processes"], ["step"],
                 ["charge"], ["electrostatics", "exchange"], ["plasma"]]}
ROOM = {part: {room: floor for floor, rooms in enumerate(floors) for room in rooms} for part, floors in ROOMS.items()}


def includes(file: Path) -> list[tuple[str, str]]:
    """Return (kind, name) of every #include: kind is < or a quote."""
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', file.read_text(), flags=re.MULTILINE)


def room_of(file: Path) -> str:
    """Return the room of a file, given by its path below src/plaq."""
    return Path(file.parts[1]).stem


def broken_arrow(user: str, used: str, floor: dict[str, int] = FLOOR) -> bool:
    """Return whether part (or room) `user` must not include from part (or room) `used`."""
    return user != used and floor[used] >= floor[user]


FILES = sorted(path for end in ("hpp", "cpp", "cu", "cuh") for path in SOURCES.rglob(f"*.{end}"))


def test_broken_arrows_of_cpp_are_found():
    assert (
        not broken_arrow("dca", "base") and not broken_arrow("comm", "task") and not broken_arrow("comm", "comm")
    )
    assert broken_arrow("base", "task") and broken_arrow("linalg", "comm") and broken_arrow("batch", "dca")
    assert {path.relative_to(SOURCES).parts[0] for path in FILES} <= FLOOR.keys(), (
        "a new part needs its floor here"
    )
    assert not broken_arrow("messages", "wire", ROOM["comm"]) and broken_arrow("messages", "mpi", ROOM["comm"])
    for part, floor in ROOM.items():
        rooms = {room_of(path.relative_to(SOURCES)) for path in FILES if path.is_relative_to(SOURCES / part)}
        assert rooms == floor.keys(), f"a room of {part} needs its floor here"


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_arrows_point_one_way(file):
    user, room = file.relative_to(SOURCES).parts[0], room_of(file.relative_to(SOURCES))
    for kind, name in includes(file):
        parts = Path(name).parts
        if kind == '"':
            assert parts[0] == "plaq" and (ROOT / "src" / name).exists(), (
                f'"{name}" is not the name of a file from src/'
            )
        if parts[0] == "plaq":
            assert not broken_arrow(user, parts[1]), f"{user} must not include {name}"
            if user == parts[1] and user in ROOM:
                assert not broken_arrow(room, Path(parts[2]).stem, ROOM[user]), f"{user}/{room} must not include {name}"


def test_only_programs_know_mpi():
    """plaq loads it; the one header of MPI's types is for programs, and no other of plaq's includes it."""
    names = lambda what: [str(file.relative_to(SOURCES)) for file in FILES if what in includes(file)]
    assert names(("<", "mpi.h")) == ["comm/job/from_mpi.hpp"]
    assert names(('"', "plaq/comm/job/from_mpi.hpp")) == []
    assert names(('"', "plaq/comm/mpi/mpi_wire.hpp")) == ["comm/mpi/interface.cpp"]


def test_bindings_are_never_included():
    for file in [*FILES, *(ROOT / "tests").rglob("*.cpp"), *(ROOT / "benchmarks").rglob("*.cpp")]:
        assert not [name for _, name in includes(file) if "bind" in name], file


# Python: a room may use rooms of earlier lists only.
PYTHON = [["errors", "batch"], ["lazy"], ["files", "instruction_sets", "streams"], ["_core"], ["parts"],
          ["inputs", "trace"], ["comm", "data"],
          ["machine", "balance"], ["run"], ["cli"], ["dca", "lqcd", "pic"], ["main"], ["__main__"]]
DCA = [["lattice", "units"], ["solver"], ["inputs"], ["parameters", "physics"], ["convert", "planning", "results"],
       ["continuation", "loop"],
       ["application"], ["cli", "commands"]]
DCA_LOOP = [["convergence", "density_search", "mixing"], ["ordering"], ["first_sigma", "state"], ["further", "start"],
            ["observer"], ["setup"], ["status", "two_particle"], ["iteration"], ["loop"]]
LQCD = [["aggregates", "boundaries", "choices", "integrators"], ["sea"], ["fields", "analysis"],
        ["files", "measurement_tables"], ["parameters"], ["measurements"], ["action"],
        ["gauge_fixing", "planning", "results", "start"], ["measuring", "replicas"], ["chain"], ["stored"],
        ["application"], ["cli", "commands"]]
PIC = [["inputs", "quiet_start"], ["plasma"], ["planning", "diagnostics"], ["results"], ["simulation"],
       ["application"], ["cli", "commands"], ["picmi"]]
MODULES = {str(path.relative_to(ROOT / "python").with_suffix("")).replace("/", ".").removesuffix(".__init__"): path
           for path in (ROOT / "python" / "plaq").rglob("*.py")}


def imports(module: str) -> set[str]:
    """Return the modules of plaq that a module imports, at its top or in a function."""
    names = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: plaq's imports are absolute"
            names |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
    return {name if name in MODULES else name.rpartition(".")[0] for name in names if name.startswith("plaq.")}


def upward(package: str, floors: list[list[str]], imported: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return (module, imported module) of imports between rooms of a package that do not point down."""
    floor = {room: number for number, rooms in enumerate(floors) for room in rooms}
    room = lambda module: module.removeprefix(f"{package}.").partition(".")[0]
    assert {room(module) for module in imported} == floor.keys(), "a new room needs its floor here"
    return {(module, used) for module in imported for used in imported[module] if used.startswith(f"{package}.")
            and room(used) != room(module) and floor[room(used)] >= floor[room(module)]}


def test_broken_arrows_of_python_are_found():
    floors = [["low"], ["left", "right"], ["high"]]
    good = {"p.low": set(), "p.left": {"p.low", "other.high"}, "p.right.inner": {"p.right.outer"},
            "p.right.outer": set(), "p.high": {"p.low", "p.left"}}
    assert upward("p", floors, good) == set()
    assert upward("p", floors, good | {"p.low": {"p.high"}}) == {("p.low", "p.high")}
    assert upward("p", floors, good | {"p.left": {"p.right.inner"}}) == {("p.left", "p.right.inner")}
    with pytest.raises(AssertionError, match="needs its floor"):
        upward("p", floors, good | {"p.new": set()})


@pytest.mark.parametrize("package, floors", [("plaq", PYTHON), ("plaq.dca", DCA), ("plaq.dca.loop", DCA_LOOP),
                                           ("plaq.lqcd", LQCD), ("plaq.pic", PIC)])
def test_arrows_of_python_point_one_way(package, floors):
    imported = {module: imports(module) for module in MODULES if module.startswith(f"{package}.")}
    assert not upward(package, floors, imported)


def test_no_large_file():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    large = {
        str(f.relative_to(ROOT)): f.stat().st_size for f in files if f.is_file() and f.stat().st_size > 1_000_000
    }
    assert not large
