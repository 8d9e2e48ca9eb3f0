#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "plaq/linalg/instruction_set.hpp"

void bind_linalg(nanobind::module_& m) {
  m.def("instruction_set", &plaq::linalg::instruction_set, "Instruction set that the kernels were compiled for.");
}
