"""Command line of ``plaq pic``: the commands of every application."""

from __future__ import annotations

from pathlib import Path

from plaq.cli.run import Commands
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.pic.inputs.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.pic.application import Pic

    return Pic


app = Commands("pic", "Particle-in-cell simulation of plasmas.",
               parameters, application, exported="histories, probes and histograms as CSV; fields and particles are in "
               "openPMD files (output.every)",
               first_input=Path(__file__).with_name("new.toml"))
