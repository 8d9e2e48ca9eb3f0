"""Display of results of a run in a notebook."""

from __future__ import annotations

from plaq.data.display import behind_clicks, block, details, head
from plaq.dca.results.plot import drawings
from plaq.dca.results.report_tables import check_table, momentum_table, order_table, point_table
from plaq.dca.results.results import Results


def results_html(results: Results) -> str:
    """Return the sentences and the table of results; further tables and each figure open on a click."""
    if not results.points:
        return block(head("plaq dca: no temperature is finished"))
    return block(head(f"plaq dca: {results.in_words()}", results.answers()), point_table(results),
                 *(details(title, table(results)) for title, table in
                   (("Orders", order_table), ("Spin and charge by momentum", momentum_table), ("Checks", check_table))),
                 behind_clicks(drawings(results).values()))
