"""Command line of ``plaq pic``: the commands of every application."""

from __future__ import annotations

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
               parameters, application)
