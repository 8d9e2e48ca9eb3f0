// The Python module plaq._core: one submodule per C++ library.
#include <nanobind/nanobind.h>

#include <exception>

#include "plaq/base/error.hpp"

namespace nb = nanobind;

void bind_trace(nb::module_&);
void bind_task(nb::module_&);
void bind_linalg(nb::module_&);
void bind_gpu(nb::module_&);
void bind_comm(nb::module_&);
void bind_collection(nb::module_&);
void bind_dca(nb::module_&);
void bind_lqcd(nb::module_&);
void bind_otf2(nb::module_&);
void bind_pic(nb::module_&);

namespace {

/// The errors of the libraries are those of plaq.errors, which everything above knows.
void raise_plaq_error(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const char* what) {
    PyErr_SetString(nb::module_::import_("plaq.errors").attr(name).ptr(), what);
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const plaq::input_error& error) {
    raise("InputError", error.what());
  } catch (const plaq::runtime_failure& error) {
    raise("RunError", error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(raise_plaq_error);
  m.attr("has_gpu_kernels") = PLAQ_HAS_GPU_KERNELS;
  m.attr("compiler") = PLAQ_COMPILER;
#ifdef PLAQ_BIND_TRACE
  auto trace = m.def_submodule("trace");
  bind_trace(trace);
#endif
#ifdef PLAQ_BIND_TASK
  auto task = m.def_submodule("task");
  bind_task(task);
#endif
#ifdef PLAQ_BIND_LINALG
  auto linalg = m.def_submodule("linalg");
  bind_linalg(linalg);
#endif
#ifdef PLAQ_BIND_GPU
  auto gpu = m.def_submodule("gpu");
  bind_gpu(gpu);
#endif
#ifdef PLAQ_BIND_COMM
  auto comm = m.def_submodule("comm");
  bind_comm(comm);
#endif
#ifdef PLAQ_BIND_COLLECTION
  auto collection = m.def_submodule("collection");
  bind_collection(collection);
#endif
#ifdef PLAQ_BIND_DCA
  auto dca = m.def_submodule("dca");
  bind_dca(dca);
#endif
#ifdef PLAQ_BIND_LQCD
  auto lqcd = m.def_submodule("lqcd");
  bind_lqcd(lqcd);
#endif
#ifdef PLAQ_BIND_OTF2
  auto otf2 = m.def_submodule("otf2");
  bind_otf2(otf2);
#endif
#ifdef PLAQ_BIND_PIC
  auto pic = m.def_submodule("pic");
  bind_pic(pic);
#endif
}
