"""Traces of a program: where and when each task ran, its waits, and counters of the machine."""

from plaq.trace.model import Counter, RankInfo, Trace
from plaq.trace.read import read, read_by_rank, start_of
from plaq.trace.session import Recording, Session, counter, read_counter, region

__all__ = ["Counter", "RankInfo", "Recording", "Session", "Trace", "counter", "read", "read_by_rank", "read_counter",
           "region", "start_of"]
