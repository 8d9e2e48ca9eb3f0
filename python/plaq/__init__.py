"""plaq: quantum clusters, plasmas and lattice gauge theory as asynchronous tasks."""

__version__ = "0.1.0"
