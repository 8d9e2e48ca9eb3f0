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


def find():
    """The spec of the module. ImportError when it was not built."""
    names = instruction_sets.wanted(os.environ.get(instruction_sets.VARIABLE, ""), instruction_sets.here())
    # An editable install has its compiled files where packages are installed, and plaq.__path__ may not say so.
    places = [*map(Path, plaq.__path__), *(Path(place, "plaq") for place in sys.path)]
    for name in names:
        spec = PathFinder.find_spec("plaq._core", [str(place / "kernels" / name) for place in places])
        if spec:
            return spec
    raise ImportError(f"plaq's C++ part is not built for {' or '.join(names)} and Python {sys.version.split()[0]}")


spec = find()
sys.modules[__name__] = module = module_from_spec(spec)
spec.loader.exec_module(module)
