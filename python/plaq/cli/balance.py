"""``plaq balance``: replay of recorded loads with any balancer, on any number of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from plaq.cli.app import whole


def balance(
    file: Annotated[Path, typer.Argument(help="Loads that a collection recorded, or the file of a rank of vt.",
                                         show_default=False)],
    by: Annotated[str, typer.Option(help="Names, as in refine,metis; by default all of plaq.")] = "",
    ranks: Annotated[Optional[int], typer.Option("-n", "--ranks", help="By default as many as there were.",
                                                 **whole(1_000_000))] = None,
    ranks_per_node: Annotated[int, typer.Option(help="For the hierarchical balancer.", **whole(1_000_000))] = 32,
    most_bytes: Annotated[float, typer.Option(help="Bytes of elements that fit on a rank; 0: any.", min=0)] = 0,
    csv: Annotated[Optional[Path], typer.Option(help="Write a line for each balancer and phase to this "
                                                "file too.")] = None,
    picture: Annotated[Optional[Path], typer.Option(help="Draw loads of ranks and maps of elements, "
                                                    "as .png.")] = None,
):
    """Replay recorded loads: report the imbalance that balancers would have left, and their migrations."""
    from plaq.balance import read
    from plaq.balance.picture import draw
    from plaq.balance.replay import MOST_NEGOTIATING, as_csv, replay, usable
    from plaq.cli.tables import plain_table, print_table
    from plaq.files.atomic import write_atomically
    from plaq.streams import print_line

    loads = read(file)
    n = ranks or loads.ranks
    names, lacking, slow = usable(loads, by, n)
    replayed = [replay(loads, name, n, most_bytes or float("inf"), ranks_per_node) for name in names]
    if csv:
        write_atomically(csv, as_csv(replayed).encode())
    if picture:
        draw(picture, loads, replayed)
    last = loads.phases[-1]
    on = f"{n} ranks" + (f", recorded on {loads.ranks}" if n != loads.ranks else "")
    print(f"{loads.name}: {len(last.keys)} elements in {len(loads.phases)} phases, on {on}")
    table = plain_table(("balancer",), ("I before", "predicted", "floor", "moved", "bytes", "cut", "time"))
    for result in replayed:
        table.add_row(result.by, *(f"{result.mean(name):.3f}" for name in ("before", "predicted", "floor")),
                      f"{100 * result.mean('moved'):.1f} %", f"{result.sum('moved_bytes'):.3g}",
                      f"{100 * result.mean('cut'):.1f} %", f"{result.mean('seconds'):.3g} s")
    print_table(table)
    print("\nI = max/mean - 1 over the ranks; means over the phases, bytes of all.")
    for note in loads.notes:
        print_line(note)
    if lacking:
        print_line(f"left out, because they need points or positions: {', '.join(lacking)}")
    if slow:
        print_line(f"left out, because they take minutes and some 3 kB a rank on more than {MOST_NEGOTIATING} ranks: "
                   f"{', '.join(slow)}; --by runs them")
