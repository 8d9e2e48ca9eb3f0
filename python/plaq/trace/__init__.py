"""Traces of a program: where and when each task ran, its waits, and counters of the machine."""

from plaq.trace.model import Counter, RankInfo, Trace
from plaq.trace.read import read
from plaq.trace.session import Session, counter, read_counter, region

__all__ = ["Counter", "RankInfo", "Session", "Trace", "counter", "read", "read_counter", "region"]
