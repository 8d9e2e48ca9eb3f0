#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "plaq/task/backends.hpp"
#include "plaq/task/cores.hpp"

void bind_task(nanobind::module_& m) {
  m.def("backends", &plaq::task::backends, "Names of the thread back ends of this build, the default first.");
  m.def("physical_cores", &plaq::task::physical_cores,
        "Physical cores that this process may use, after its affinity mask and its cgroup's limit.");
}
