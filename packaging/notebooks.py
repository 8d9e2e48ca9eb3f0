"""Execute notebooks in place: `python packaging/notebooks.py examples/notebooks/*.ipynb`.

What changes from run to run without saying anything is left out: times of execution, ids, the version of Python.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TIMEOUT = 1200  # seconds a cell


def execute(notebook, folder):
    """Execute all cells of a notebook in a folder; raises CellExecutionError with the traceback of a cell."""
    NotebookClient(notebook, timeout=TIMEOUT, record_timing=False, resources={"metadata": {"path": folder}}).execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        nbformat.write(execute(nbformat.read(path, as_version=4), path.parent), path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
