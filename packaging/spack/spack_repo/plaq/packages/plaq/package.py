# spack repo add packaging/spack/spack_repo/plaq && spack dev-build plaq@main
from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Plaq(PythonPackage):
    """Quantum clusters, plasmas and lattice gauge theory as asynchronous tasks."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default=True, description="Jobs of several ranks")
    variant("otf2", default=True, description="Traces as OTF2 archives")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost@1.74:+context")
    depends_on("random123", type="build")
    depends_on("mpi", type="run", when="+mpi")  # loaded when a job has ranks
    depends_on("otf2@3:", when="+otf2")

    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2.9.2:", type="build")
    depends_on("py-pythran@0.15:", type="build")
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-h5py@3.10:", type=("build", "run"))
    depends_on("py-typer@0.19:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-threadpoolctl@3:", type=("build", "run"))
    depends_on("py-matplotlib@3.8:", type=("build", "run"))

    def config_settings(self, spec, prefix):
        return {"cmake.define.PLAQ_MPI": "on" if spec.satisfies("+mpi") else "off"}
