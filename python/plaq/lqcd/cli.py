"""``plaq lqcd``: the commands that every application has."""

from __future__ import annotations

from pathlib import Path

from plaq.cli.run import Commands
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.lqcd.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.lqcd.application import Lqcd

    return Lqcd


app = Commands("lqcd", "Lattice QCD: gauge fields with and without Wilson quarks in the sea, mesons, gradient flow.",
               parameters, application, exported="averages with errors, and series of all configurations, as CSV",
               first_input=Path(__file__).with_name("new.toml"))
