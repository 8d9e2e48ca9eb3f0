#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "plaq/linalg/blas.hpp"
#include "plaq/linalg/instruction_set.hpp"

void bind_linalg(nanobind::module_& m) {
  m.def("blas_core", &plaq::linalg::blas_core, "Name of the kernel set that the BLAS library chose.");
  m.def("instruction_set", &plaq::linalg::instruction_set, "What the kernels were compiled for.");
  m.def("use_one_blas_thread", &plaq::linalg::use_one_blas_thread);
}
