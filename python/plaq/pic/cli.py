"""``plaq pic``: the commands that every application has."""

from __future__ import annotations

from plaq.cli.run import Commands
from plaq.run.application import Application


def application() -> type[Application]:
    from plaq.pic.application import Pic

    return Pic


app = Commands("Particle-in-cell simulation of plasmas.", application)
