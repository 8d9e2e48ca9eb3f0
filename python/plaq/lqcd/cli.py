"""``plaq lqcd``: the commands that every application has."""

from __future__ import annotations

from plaq.cli.run import Commands
from plaq.run.application import Application


def application() -> type[Application]:
    from plaq.lqcd.application import Lqcd

    return Lqcd


app = Commands("Lattice QCD, being built: gauge fields with and without two Wilson quarks in the sea, and mesons.", application)
