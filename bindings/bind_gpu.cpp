#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "plaq/gpu/devices.hpp"

namespace nb = nanobind;
using namespace plaq::gpu;

void bind_gpu(nb::module_& m) {
  nb::class_<device_properties>(m, "Device", "A GPU of this machine.")
      .def_ro("name", &device_properties::name)
      .def_ro("multiprocessors", &device_properties::multiprocessors)
      .def_ro("memory", &device_properties::memory, "Bytes.")
      .def_ro("team_memory", &device_properties::team_memory, "Bytes of shared memory for each of two blocks.");
  nb::class_<device_list>(m, "Devices", "GPUs that this process can compute on.")
      .def_ro("gpus", &device_list::gpus)
      .def_ro("why_none", &device_list::why_none, "Reason for an empty list.");
  m.def("find_devices", &find_devices, "Never fails: a machine without a GPU or a driver for it has none.");
}
