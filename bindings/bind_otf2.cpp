#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "plaq/trace/otf2.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The columns of a dict, all of one length.
class table {
 public:
  explicit table(const nb::dict& columns) : columns_(columns) {}

  template <class T>
  void read(const char* name, std::span<const T>& values) {
    const auto array = nb::cast<column<T>>(columns_[name]);
    if (length_ != unknown && array.shape(0) != length_) throw nb::value_error("columns differ in length");
    length_ = array.shape(0);
    values = {array.data(), length_};
  }

 private:
  static constexpr std::size_t unknown = -1;
  nb::dict columns_;
  std::size_t length_ = unknown;
};

using names = std::vector<std::string>;

}  // namespace

void bind_otf2(nb::module_& m) {
  using namespace plaq::trace;
  nb::enum_<otf2::kind>(m, "Kind", "Kind of a location.")
      .value("thread", otf2::kind::thread)
      .value("stream", otf2::kind::stream)
      .value("counters", otf2::kind::counters);
  m.def("version", &otf2::version);
  m.def(
      "write",
      [](const std::string& folder, const std::string& creator, const std::string& description, std::int64_t duration,
         const names& hosts, const names& task_names, const names& region_names,
         const std::vector<std::tuple<std::string, int, int>>& processes,
         const std::vector<std::tuple<std::string, int, otf2::kind>>& locations,
         const std::vector<std::tuple<std::string, std::string>>& quantities,
         const std::vector<std::tuple<int, int, int>>& counters, const nb::dict& intervals, const nb::dict& created,
         const nb::dict& samples, const nb::dict& messages) {
        otf2::archive all{creator, description, duration, hosts, task_names, region_names};
        for (const auto& [name, host, creator] : processes) all.processes.push_back({name, host, creator});
        for (const auto& [name, process, kind] : locations) all.locations.push_back({name, process, kind});
        for (const auto& [name, unit] : quantities) all.quantities.push_back({name, unit});
        for (const auto& [quantity, process, location] : counters)
          all.counters.push_back({quantity, process, location});
        table a(intervals);
        a.read("location", all.intervals.location);
        a.read("depth", all.intervals.depth);
        a.read("region", all.intervals.region);
        a.read("begin", all.intervals.begin);
        a.read("end", all.intervals.end);
        a.read("task", all.intervals.task);
        a.read("parent", all.intervals.parent);
        a.read("creator", all.intervals.creator);
        a.read("generation", all.intervals.generation);
        a.read("last", all.intervals.last);
        table b(created);
        b.read("location", all.creations.location);
        b.read("time", all.creations.time);
        b.read("generation", all.creations.generation);
        table c(samples);
        c.read("location", all.samples.location);
        c.read("counter", all.samples.counter);
        c.read("time", all.samples.time);
        c.read("value", all.samples.value);
        table d(messages);
        d.read("location", all.messages.location);
        d.read("time", all.messages.time);
        d.read("peer", all.messages.peer);
        d.read("number", all.messages.number);
        d.read("bytes", all.messages.bytes);
        d.read("sends", all.messages.sends);
        nb::gil_scoped_release others;
        otf2::write(folder, all);
      },
      "folder"_a, nb::kw_only(), "creator"_a, "description"_a, "duration"_a, "hosts"_a, "task_names"_a,
      "region_names"_a, "processes"_a, "locations"_a, "quantities"_a, "counters"_a, "intervals"_a, "created"_a,
      "samples"_a, "messages"_a, "See src/plaq/trace/otf2.hpp.");
}
