"""Order of tests, threads of BLAS, and fixtures of several folders.

BLAS works with one thread, as in a run: the matrices are small, and xdist has a worker on every core already. Files
with slow tests come first, so that no core is alone with one in the end.
"""

import numpy  # noqa: F401  its BLAS and SciPy's have to be there to be limited
import pytest
import scipy.linalg  # noqa: F401
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

threadpool_limits(1)
# Machines are shared: the time of an example says nothing of the code.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


def pytest_collection_modifyitems(items):
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def folder(request, tmp_path):
    """Folder with the ``INPUT`` of the test's module in input.toml."""
    (tmp_path / "input.toml").write_text(request.module.INPUT)
    return tmp_path
