"""Answers about an input before it runs: its description, and what its run will need."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


class Description(str):
    """Text of several lines that shows itself as it is, in a terminal and in a notebook."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Forecast(Description):
    """Needs of a run as a text and as numbers.

    ``seconds`` of wall time, ``parts`` of it by name, ``memory`` of the fullest rank in bytes, and ``efficiency``: the
    part of all cores that works, None where that is not known. ``ranks`` and ``workers`` of each are those it is for.
    """

    seconds: float
    parts: Mapping[str, float]
    memory: float
    ranks: int
    workers: int
    efficiency: float | None

    def __new__(cls, text: str, *, parts: Mapping[str, float], memory: float, ranks: int, workers: int,
                efficiency: float | None = None) -> Forecast:
        forecast = super().__new__(cls, text)
        forecast.seconds, forecast.parts = sum(parts.values()), dict(parts)
        forecast.memory, forecast.ranks, forecast.workers = memory, ranks, workers
        forecast.efficiency = efficiency
        return forecast
