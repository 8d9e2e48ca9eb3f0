"""Display of results of a run in a notebook."""

from __future__ import annotations

import numpy as np

from plaq.data.display import behind_clicks, block, details, head
from plaq.data.formatting import format_number
from plaq.data.page import table
from plaq.pic.results.drawings import drawings
from plaq.pic.results.page import rows
from plaq.pic.results.results import Results


def results_html(results: Results) -> str:
    """Return the sentences and the energies and numbers at the end; records and each figure open on a click."""
    first, *more = results.answers()
    histories = [(name, record) for name, record in results.recorded.items()
                 if len(record.axes) == 1 and np.any(record.values) and ".left_" not in name]
    numbers = ([name, format_number(record.values[0], ".6g"), format_number(record.values[-1], ".6g"), record.unit]
               for name, record in histories)
    return block(head(f"plaq pic: {first}", more), table(("history", "first step", "last step", "unit"), numbers),
                 details("Records", table(("result", "shape", "unit", "formula"), rows(results), "plain")),
                 behind_clicks(drawings(results).values()))
