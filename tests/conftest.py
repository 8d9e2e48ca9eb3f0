"""BLAS works with one thread, as in a run: the matrices are small, and xdist has a worker on every core already."""

import numpy  # noqa: F401  its BLAS and SciPy's have to be there to be limited
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_limits

threadpool_limits(1)
