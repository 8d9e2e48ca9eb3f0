#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "plaq/comm/clock_offset.hpp"
#include "plaq/comm/collectives.hpp"
#include "plaq/comm/communicator.hpp"
#include "plaq/comm/measure.hpp"
#include "plaq/comm/messenger.hpp"
#include "plaq/comm/simulation.hpp"
#include "plaq/comm/tuning.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using plaq::comm::collectives;
using plaq::comm::communicator;
template <class T>
using vector_in = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using vector_inout = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> view(const nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& a) {
  return {a.data(), a.size()};
}

/// (bytes of all ranks, their offsets) without a copy.
nb::tuple to_python(plaq::comm::gathered<std::uint8_t>&& all) {
  auto* values = new std::vector<std::uint8_t>(std::move(all.values));
  nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  return nb::make_tuple(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(values->data(), {values->size()}, owner),
                        all.offsets);
}

// MPI may wait for other ranks: other Python threads go on meanwhile.
template <class T>
void bind_sums(nb::class_<communicator>& c, nb::class_<collectives>& together) {
  together.def(
      "all_reduce",
      [](collectives& self, vector_inout<T> values, plaq::comm::operation op) {
        nb::gil_scoped_release wait;
        self.iall_reduce(view(values), op).get();
      },
      "values"_a.noconvert(), "op"_a);
  c.def(
      "ordered_sum",
      [](const communicator& self, const std::vector<std::int64_t>& indices,
         const std::vector<vector_in<T>>& arrays, vector_inout<T> sum) {
        std::vector<plaq::comm::piece<T>> pieces;
        for (std::size_t i = 0; i < arrays.size(); ++i) pieces.push_back({indices.at(i), view(arrays[i])});
        nb::gil_scoped_release wait;
        self.ordered_sum<T>(pieces, view(sum));
      },
      "indices"_a, "arrays"_a.noconvert(), "sum"_a.noconvert());
}

}  // namespace

void bind_comm(nb::module_& m) {
  nb::enum_<plaq::comm::operation>(m, "Operation")
      .value("sum", plaq::comm::operation::sum)
      .value("min", plaq::comm::operation::min)
      .value("max", plaq::comm::operation::max);

  auto c = nb::class_<communicator>(m, "Communicator");
  c.def_static("world", &communicator::world, "longest_message"_a = std::size_t(1) << 30,
               nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("rank", &communicator::rank)
      .def_prop_ro("size", &communicator::size)
      .def("split", &communicator::split, "color"_a, "key"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def("split_by_node", &communicator::split_by_node, nb::call_guard<nb::gil_scoped_release>())
      .def("clock_offset",
           [](const communicator& self) {
             nb::gil_scoped_release wait;
             const auto found = plaq::comm::measure_clock_offset(self);
             return std::pair(found.seconds, found.error);
           })
      .def("abort", &communicator::abort, "code"_a)
      .def(
          "send",
          [](const communicator& self, vector_in<std::uint8_t> bytes, int peer) {
            nb::gil_scoped_release wait;
            self.send(view(bytes), peer);
          },
          "bytes"_a.noconvert(), "peer"_a)
      .def(
          "receive",
          [](const communicator& self, vector_inout<std::uint8_t> bytes, int peer) {
            nb::gil_scoped_release wait;
            self.receive(view(bytes), peer);
          },
          "bytes"_a.noconvert(), "peer"_a);

  // As futures: who waits for long naps, and leaves its core to workers and to other ranks.
  auto together = nb::class_<collectives>(m, "Collectives", "Collective operations; made by all ranks together.");
  together
      .def(nb::init<const communicator&>(), "over"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("barrier", [](collectives& self) { self.ibarrier().get(); }, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "broadcast",
          [](collectives& self, vector_inout<std::uint8_t> bytes, int root) {
            nb::gil_scoped_release wait;
            self.ibroadcast(view(bytes), root).get();
          },
          "bytes"_a.noconvert(), "root"_a)
      .def(
          "gather",
          [](collectives& self, vector_in<std::uint8_t> mine, int root) {
            plaq::comm::gathered<std::uint8_t> all;
            {
              nb::gil_scoped_release wait;
              all = self.gather_any(view(mine), root);
            }
            return to_python(std::move(all));
          },
          "bytes"_a.noconvert(), "root"_a)
      .def(
          "all_gather",
          [](collectives& self, vector_in<std::uint8_t> mine) {
            plaq::comm::gathered<std::uint8_t> all;
            {
              nb::gil_scoped_release wait;
              all = self.all_gather_any(view(mine));
            }
            return to_python(std::move(all));
          },
          "bytes"_a.noconvert())
      .def(
          "all_gather_into",
          [](collectives& self, vector_in<std::uint8_t> mine, vector_inout<std::uint8_t> all) {
            nb::gil_scoped_release wait;
            self.iall_gather(view(mine), view(all)).get();
          },
          "bytes"_a.noconvert(), "all"_a.noconvert());
  bind_sums<std::int32_t>(c, together);
  bind_sums<std::int64_t>(c, together);
  bind_sums<std::uint64_t>(c, together);
  bind_sums<float>(c, together);
  bind_sums<double>(c, together);

  nb::class_<plaq::comm::messenger>(m, "Messenger", "Messages between the tasks of the ranks; made by all together.")
      .def(nb::init<const communicator&>(), "over"_a, nb::call_guard<nb::gil_scoped_release>());

  nb::class_<plaq::comm::method>(m, "Method", "How a collective operation is carried out.")
      .def(
          "__init__",
          [](plaq::comm::method* at, const std::string& algorithm, int arity, std::size_t segment) {
            new (at) plaq::comm::method{plaq::comm::algorithm_named(algorithm), arity, segment};
          },
          "algorithm"_a, "arity"_a = 2, "segment"_a = 0)
      .def_prop_ro("algorithm", [](const plaq::comm::method& self) { return std::string(name_of(self.how)); })
      .def_ro("arity", &plaq::comm::method::arity)
      .def_ro("segment", &plaq::comm::method::segment);
  m.def(
      "measure_candidates",
      [](const communicator& over, const std::string& operation, std::size_t bytes, int repeats) {
        nb::gil_scoped_release wait;
        std::vector<std::pair<plaq::comm::method, double>> found;
        for (const auto& f :
             plaq::comm::measure_candidates(over, plaq::comm::collective_named(operation), bytes, repeats))
          found.emplace_back(f.by, f.seconds);
        return found;
      },
      "over"_a, "operation"_a, "bytes"_a, "repeats"_a,
      "[(method, seconds)] of every way to carry out an operation on blocks of so many bytes, the quickest "
      "first.");
  m.def(
      "candidates",
      [](const std::string& operation, int ranks, std::size_t bytes) {
        return plaq::comm::candidates(plaq::comm::collective_named(operation), ranks, bytes);
      },
      "operation"_a, "ranks"_a, "bytes"_a, "The methods that are worth a try.");
  m.def("tuning_path", &plaq::comm::tuning::path, "The file that holds this machine's tuning table.");

  using plaq::comm::machine;
  nb::class_<machine::level>(m, "Level")
      .def(nb::init<int, double, double, double>(), "ranks"_a, "latency"_a, "gap"_a, "per_byte"_a);
  nb::class_<machine>(m, "Machine", "A LogGP machine with a hierarchy of shared links; see simulation.hpp.")
      .def(nb::init<std::vector<machine::level>, double, double, std::size_t, int, double>(), "levels"_a,
           "overhead"_a, "combine_per_byte"_a, "eager"_a, "cores"_a, "turn"_a);
  nb::class_<plaq::comm::simulated>(m, "Simulated")
      .def_ro("seconds", &plaq::comm::simulated::seconds)
      .def_ro("messages", &plaq::comm::simulated::messages)
      .def_ro("across", &plaq::comm::simulated::across)
      .def_ro("bytes_across", &plaq::comm::simulated::bytes_across);
  m.def(
      "simulate",
      [](const std::string& operation, std::size_t bytes, const plaq::comm::method& by, const machine& on,
         int ranks, int root) {
        nb::gil_scoped_release other_threads;
        return plaq::comm::simulate({plaq::comm::collective_named(operation), root, bytes, 1}, by, on, ranks);
      },
      "operation"_a, "bytes"_a, "by"_a, "on"_a, "ranks"_a, "root"_a = 0);

  m.def("library_version", &plaq::comm::library_version, "The MPI that plaq was built with; empty without MPI.");
  m.def("thread_level", &plaq::comm::thread_level,
        "The thread level that MPI granted; empty where it is not running.");
  m.def("mpiexec", &plaq::comm::mpiexec, "Path of the launcher of that MPI; empty without MPI.");
}
