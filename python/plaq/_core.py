"""Selector of plaq's C++ part: this name becomes its build for the best instruction set of the processor.

Builds lie in kernels/, one folder for each set; PLAQ_INSTRUCTION_SET selects another one that runs here.
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
    """Return the spec of the module. NotBuilt if there is none for this processor and Python."""
    chosen = os.environ.get(instruction_sets.VARIABLE, "")
    names = instruction_sets.select_sets(chosen, instruction_sets.supported_sets())
    # An editable install has its compiled files where packages are installed, and plaq.__path__ may not say so.
    folders = [*map(Path, plaq.__path__), *(Path(folder, "plaq") for folder in sys.path)]
    for name in names:
        spec = PathFinder.find_spec("plaq._core", [str(folder / "kernels" / name) for folder in folders])
        if spec:
            return spec
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    built = sorted({file.name for folder in folders for file in folder.glob("kernels/*/_core*.so")})
    state = f"only {' and '.join(built)} exists" if built else "it was not compiled"
    raise NotBuilt(f"plaq's C++ part is missing for {python} on {names[0]}: {state} in {folders[0]}; "
                   "`make build` in a checkout, or `pip install .` into this Python, builds it")


spec = find()
sys.modules[__name__] = module = module_from_spec(spec)
spec.loader.exec_module(module)
