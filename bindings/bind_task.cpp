#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "plaq/task/backends.hpp"
#include "plaq/task/cores.hpp"
#include "plaq/task/placement.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::task;

void bind_task(nb::module_& m) {
  nb::enum_<binding>(m, "Binding", "Binding of workers.")
      .value("automatic", binding::automatic)
      .value("cores", binding::cores)
      .value("threads", binding::threads)
      .value("none", binding::none);
  nb::class_<options>(m, "Options", "Options of a pool.")
      .def(nb::init<>())
      .def_rw("workers", &options::workers)
      .def_rw("bind", &options::bind)
      .def_rw("cpus", &options::cpus);
  nb::class_<share>(m, "Share", "Share of a rank in its machine.")
      .def_ro("cpus", &share::cpus)
      .def_ro("workers", &share::workers);
  m.def("backends", &backends, "Names of the thread back ends of this build, the default first.");
  m.def("physical_cores", &physical_cores,
        "Physical cores that this process may use, after its affinity mask and its cgroup's limit.");
  m.def("allowed_cpus", &detail::allowed_cpus, "Hardware threads that this process may use.");
  m.def(
      "fair_share",
      [](const std::vector<std::vector<int>>& masks, int rank, binding bind) { return fair_share(masks, rank, bind); },
      "masks"_a, "rank"_a, "bind"_a, "Share of rank `rank` on a machine whose ranks may use `masks`.");
  m.def(
      "binding_is_refused", [](const options& given) { return detail::place_workers(given).refused; }, "options"_a,
      "Whether a pool would bind its workers by itself and the kernel refuses it.");
}
