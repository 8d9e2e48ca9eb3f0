"""plaq's C++ part: this name becomes its build for the best instruction set that the processor has.

Builds lie in kernels/, one folder for each set; PLAQ_INSTRUCTION_SET chooses another one that runs here.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import plaq
from plaq import instruction_sets
from plaq.errors import NotBuilt


def find():
    """The spec of the module. NotBuilt when there is none for this processor and Python."""
    names = instruction_sets.wanted(os.environ.get(instruction_sets.VARIABLE, ""), instruction_sets.here())
    # An editable install has its compiled files where packages are installed, and plaq.__path__ may not say so.
    places = [*map(Path, plaq.__path__), *(Path(place, "plaq") for place in sys.path)]
    for name in names:
        spec = PathFinder.find_spec("plaq._core", [str(place / "kernels" / name) for place in places])
        if spec:
            return spec
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    built = sorted({file.name for place in places for file in place.glob("kernels/*/_core*.so")})
    there = f"there is {' and '.join(built)} only" if built else "it was not compiled"
    raise NotBuilt(f"plaq's C++ part is not there for {python} on {names[0]}: {there} in {places[0]}; "
                   "`make build` in a checkout, or `pip install .` into this Python, builds it")


spec = find()
sys.modules[__name__] = module = module_from_spec(spec)
spec.loader.exec_module(module)
