#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "plaq/trace/counters.hpp"
#include "plaq/trace/gpu.hpp"
#include "plaq/trace/gpu_activity.hpp"
#include "plaq/trace/hooks.hpp"
#include "plaq/trace/processor_counters.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::trace;

void bind_trace(nb::module_& m) {
  const auto wait = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<session>(m, "Session")
      .def(
          "__init__",
          [](session* self, const std::filesystem::path& folder, int rank, int period_ms, std::size_t ring_bytes,
             const std::map<std::string, std::string>& notes, const std::vector<std::string>& counters) {
            new (self) session({folder, rank, std::chrono::milliseconds(period_ms), ring_bytes, notes, counters});
          },
          "folder"_a, "rank"_a, "period_ms"_a, "ring_bytes"_a, "notes"_a, "counters"_a)
      .def("close", &session::close, wait)
      .def("set_clock_offset", &session::set_clock_offset, "seconds"_a, "error"_a, wait)
      .def_prop_ro("path", &session::path)
      .def_prop_ro("problem", &session::problem);

  m.def("recording", &recording);
  m.def("demand_counters", &detail::demand_processor_counters, "names"_a);
  m.def("begin_region",
        [](std::string_view name) { return recording() ? detail::begin_region(label(name).view()) : 0; });
  m.def("end_region", &detail::end_region);

  nb::class_<counter>(m, "Counter", "A quantity that sessions sample; see plaq.trace.")
      .def(
          "__init__",
          [](counter* self, std::string_view name, std::string_view unit) {
            new (self) counter(label(name), label(unit));
          },
          "name"_a, "unit"_a)
      .def("set", &counter::set, "value"_a)
      .def("add", &counter::add, "value"_a)
      .def_prop_ro("value", &counter::value);
  m.def("read_counters", [] {
    std::vector<std::tuple<std::string, std::string, int, long, double>> out;
    for (const sample& s : read_counters()) out.emplace_back(s.name, s.unit, s.worker, s.thread, s.value);
    return out;
  });
  m.def("read_counter", &read_counter, "name"_a);
  m.def("nvml_description", [] { return gpu_counters().description(); }, "Description of NVML.");
  m.def("cupti_description", &cupti_description, "Description of CUPTI.");
}
