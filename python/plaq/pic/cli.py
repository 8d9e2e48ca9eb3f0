"""``plaq pic``: the commands that every application has."""

from __future__ import annotations

from plaq.cli.run import Commands
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.pic.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.pic.application import Pic

    return Pic


app = Commands("pic", "Particle-in-cell simulation of plasmas.",
               parameters, application)
