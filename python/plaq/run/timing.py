"""Times of the parts of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Add the duration of the body to ``seconds[part]``; a body that raises is not counted."""
    started = time.perf_counter()
    yield
    seconds[part] += time.perf_counter() - started
