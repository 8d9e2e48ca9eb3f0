"""See what a program did: which task ran where and when, what it waited for, what the machine did meanwhile."""

from plaq.trace.model import Counter, RankInfo, Trace
from plaq.trace.read import read
from plaq.trace.session import Session, counter, read_counter, region

__all__ = ["Counter", "RankInfo", "Session", "Trace", "counter", "read", "read_counter", "region"]
