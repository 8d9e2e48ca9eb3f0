"""plaq: quantum clusters, plasmas and lattice gauge theory as asynchronous tasks."""

from plaq.lazy import lazily

__version__ = "0.1.0"
__all__, __getattr__, __dir__ = lazily(__name__, {name: name for name in ("comm", "dca", "lqcd", "pic", "trace")})
