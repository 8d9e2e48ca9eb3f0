"""See what a program did: which task ran where and when, what it waited for, what the machine did meanwhile."""

from plaq.trace.model import Counter, RankInfo, Trace

__all__ = ["Counter", "RankInfo", "Trace"]
