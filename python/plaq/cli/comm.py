"""``plaq comm``: the fastest collectives, here and on other machines."""

from __future__ import annotations

from typing import Annotated

import typer

from plaq.cli.app import App, whole

app = App(help="Messages between ranks: fastest collectives here, and on other machines.")


@app.command("tune")
def comm_tune(
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="Numbers of ranks, as in 2,4,8.")] = "2,4,8",
    repeats: Annotated[int, typer.Option(help="Calls of each method; the median counts.", **whole(1_000_000))] = 20,
):
    """Measure which algorithm, arity and segment is fastest here; collectives use it from then on."""
    from plaq.comm.tuning import parse_list, tune

    print(tune(parse_list(ranks, "--ranks"), repeats))


@app.command("simulate")
def comm_simulate(
    operation: Annotated[str, typer.Argument(help="Such as reduce, all_reduce, broadcast, scatter.")] = "reduce",
    machine: Annotated[
        str, typer.Option(help="infiniband, dragonfly, or a TOML file of your own.")
    ] = "infiniband",
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="Numbers of ranks.")] = "16,64,256,1024",
    sizes: Annotated[str, typer.Option("--bytes", help="Bytes of a rank's block.")] = "4,1048576",
    best: Annotated[int, typer.Option(help="Methods to show for each operation and size.", **whole(1000))] = 3,
):
    """Simulate a collective operation on a machine: list the fastest algorithms and arities."""
    from plaq.comm.model import MOST_BYTES, MOST_RANKS, compare
    from plaq.comm.model import machine as machine_named
    from plaq.comm.tuning import parse_list

    on = machine_named(machine)
    for nbytes in parse_list(sizes, "--bytes", MOST_BYTES):
        for n in parse_list(ranks, "--ranks", MOST_RANKS):
            methods = compare(on, operation, n, nbytes)
            flat = dict(methods).get("flat")
            shown = [f"{words} {1e6 * seconds:.4g} us" for words, seconds in methods[:best]]
            if flat is not None:
                shown.append(f"flat takes {flat / methods[0][1]:.1f} times as long as the best")
            print(f"{operation} of {nbytes} bytes on {n} ranks: " + "; ".join(shown))
