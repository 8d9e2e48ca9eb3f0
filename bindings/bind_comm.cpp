#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "group.hpp"
#include "plaq/base/error.hpp"
#include "plaq/base/portion.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/collectives/measure.hpp"
#include "plaq/comm/job/abort.hpp"
#include "plaq/comm/job/heartbeat.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/comm/schedules/simulation.hpp"
#include "plaq/comm/schedules/tuning.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/poller.hpp"

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

/// Call that may wait for other ranks. Python waits in short intervals, to check for signals and timeouts in between;
/// its buffers live until it is over.
template <class T>
class waiting {
 public:
  explicit waiting(plaq::task::future<T> done) : done_(std::move(done)) {}

  /// Waits at most `seconds`. Returns whether the call is over.
  bool wait(double seconds) {
    nb::gil_scoped_release released;
    namespace detail = plaq::task::detail;
    for (detail::pace p; !done_.is_ready() && !detail::any_pool() && p.wait();)
      if (detail::poll_once()) p.again();
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
    return done_.is_ready() || done_.wait_for(time) == std::future_status::ready;
  }
  /// Throws its error, if it has one.
  void get() { done_.get(); }

 private:
  plaq::task::future<T> done_;
};
using call = waiting<void>;
using message = waiting<plaq::comm::status>;

/// Makes a call of a blocking function, by a thread of its own.
template <class F>
call on_thread(F f) {
  plaq::task::promise<void> promise;
  call result(promise.get_future());
  std::thread([f = std::move(f), promise = std::move(promise)]() mutable {
    try {
      f();
      promise.set_value();
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
  return result;
}

/// Call with a result, which `take` returns once it is over.
template <class T>
struct call_for : call {
  template <class F>
  static call_for by(F f) {
    auto result = std::make_shared<std::optional<T>>();
    return {on_thread([result, f = std::move(f)] { result->emplace(f()); }), result};
  }
  T take() {
    get();
    return std::move(**result);
  }
  std::shared_ptr<std::optional<T>> result;
};

template <class T>
void bind_call_for(nb::module_& m, const char* name) {
  nb::class_<call_for<T>, call>(m, name).def("get", &call_for<T>::take);
}

using neighbours = std::vector<std::pair<int, std::size_t>>;

std::vector<plaq::comm::neighbour> as_neighbours(const neighbours& pairs) {
  std::vector<plaq::comm::neighbour> out;
  for (const auto& [rank, count] : pairs) out.push_back({rank, count});
  return out;
}

/// Call whose result are the blocks of several ranks: their bytes, and the senders with their lengths.
struct arrivals_call : call_for<plaq::comm::arrivals<std::uint8_t>> {
  std::pair<nb::bytes, neighbours> take_bytes() {
    const auto all = take();
    neighbours from;
    for (const auto& [rank, count] : all.from) from.emplace_back(rank, count);
    return {nb::bytes(reinterpret_cast<const char*>(all.values.data()), all.values.size()), std::move(from)};
  }
};

template <class T>
void bind_sums(nb::class_<collectives>& c) {
  c.def(
       "all_reduce",
       [](collectives& self, vector_inout<T> values, plaq::comm::operation op) {
         return call(self.iall_reduce(view(values), op));
       },
       "values"_a.noconvert(), "op"_a)
      .def(
          "reduce_scatter",
          [](collectives& self, vector_in<T> values, const std::vector<std::size_t>& counts, vector_inout<T> block,
             plaq::comm::operation op) { return call(self.ireduce_scatter(view(values), counts, view(block), op)); },
          "values"_a.noconvert(), "counts"_a, "block"_a.noconvert(), "op"_a)
      .def(
          "ordered_sum",
          [](collectives& self, const std::vector<std::int64_t>& indices, const std::vector<vector_in<T>>& arrays,
             vector_inout<T> sum) {
            std::vector<plaq::comm::piece<T>> pieces;
            for (std::size_t i = 0; i < arrays.size(); ++i) pieces.push_back({indices.at(i), view(arrays[i])});
            return on_thread(
                [&self, pieces = std::move(pieces), sum = view(sum)] { self.template ordered_sum<T>(pieces, sum); });
          },
          "indices"_a, "arrays"_a.noconvert(), "sum"_a.noconvert());
}

using owned_group = std::unique_ptr<group>;

void bind_communicator(nb::module_& m) {
  auto c = nb::class_<group>(m, "Communicator");
  c.def_static(
       "world",
       [](std::size_t longest) {
         // Python's own waits check ranks: comm/timeout.py.
         return std::make_unique<group>(plaq::comm::world({.longest_message = longest, .heartbeat = false}));
       },
       "longest_message"_a = std::size_t(1) << 30, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("rank", [](const group& self) { return self.ranks.rank(); })
      .def_prop_ro("size", [](const group& self) { return self.ranks.size(); })
      .def(
          "share",
          [](const group& self, std::size_t total, int rank) {
            const plaq::portion part{rank, self.ranks.size()};
            return std::pair(part.begin(total), part.end(total));
          },
          "total"_a, "rank"_a)
      .def(
          "split",
          [](const group& self, int color, int key) {
            return call_for<owned_group>::by(
                [&self, color, key] { return std::make_unique<group>(self.ranks.split(color, key)); });
          },
          "color"_a, "key"_a = 0)
      .def("split_by_node",
           [](const group& self) {
             return call_for<owned_group>::by([&self] { return std::make_unique<group>(self.ranks.split_by_node()); });
           })
      .def("clock_offset",
           [](const group& self) {
             return call_for<std::pair<double, double>>::by([&self] {
               const auto offset = plaq::comm::measure_clock_offset(self.ranks);
               return std::pair(offset.seconds, offset.error);
             });
           })
      .def(
          "collectives",
          [](const group& self) {
            using owned = std::unique_ptr<collectives>;
            return call_for<owned>::by([&self] { return std::make_unique<collectives>(self.ranks); });
          },
          "Make collective operations; collective.")
      .def(
          "messenger",
          [](const group& self) {
            using owned = std::unique_ptr<plaq::comm::messenger>;
            return call_for<owned>::by([&self] { return std::make_unique<plaq::comm::messenger>(self.ranks); });
          },
          "Make a messenger between tasks of ranks; collective.")
      .def(
          "abort", [](const group&, int code) { plaq::comm::abort_job(code); }, "code"_a)
      .def(
          "send",
          [](group& self, vector_in<std::uint8_t> bytes, int peer) {
            return message(self.messages.isend(view(bytes), peer));
          },
          "bytes"_a.noconvert(), "peer"_a)
      .def(
          "receive",
          [](group& self, vector_inout<std::uint8_t> bytes, int peer) {
            return message(self.messages.irecv(view(bytes), peer));
          },
          "bytes"_a.noconvert(), "peer"_a);
}

void bind_collectives(nb::module_& m) {
  nb::enum_<plaq::comm::operation>(m, "Operation")
      .value("sum", plaq::comm::operation::sum)
      .value("min", plaq::comm::operation::min)
      .value("max", plaq::comm::operation::max);

  auto operations = nb::class_<collectives>(m, "Collectives");
  operations.def("barrier", [](collectives& self) { return call(self.ibarrier()); })
      .def(
          "broadcast",
          [](collectives& self, vector_inout<std::uint8_t> bytes, int root) {
            return call(self.ibroadcast(view(bytes), root));
          },
          "bytes"_a.noconvert(), "root"_a)
      .def(
          "gather",
          [](collectives& self, vector_in<std::uint8_t> mine, vector_inout<std::uint8_t> all,
             const std::vector<std::size_t>& first_byte, int root) {
            return call(
                self.igather_bytes(std::as_bytes(view(mine)), std::as_writable_bytes(view(all)), first_byte, root));
          },
          "mine"_a.noconvert(), "all"_a.noconvert(), "first_byte"_a, "root"_a)
      .def(
          "all_gather",
          [](collectives& self, vector_in<std::uint8_t> mine, vector_inout<std::uint8_t> all,
             const std::vector<std::size_t>& first_byte) {
            return call(
                self.iall_gather_bytes(std::as_bytes(view(mine)), std::as_writable_bytes(view(all)), first_byte));
          },
          "mine"_a.noconvert(), "all"_a.noconvert(), "first_byte"_a)
      .def(
          "all_gather_into",
          [](collectives& self, vector_in<std::uint8_t> mine, vector_inout<std::uint8_t> all) {
            return call(self.iall_gather(view(mine), view(all)));
          },
          "bytes"_a.noconvert(), "all"_a.noconvert())
      .def(
          "scatter",
          [](collectives& self, vector_in<std::uint8_t> all, vector_inout<std::uint8_t> mine,
             const std::vector<std::size_t>& first_byte, int root) {
            return call(
                self.iscatter_bytes(std::as_bytes(view(all)), std::as_writable_bytes(view(mine)), first_byte, root));
          },
          "all"_a.noconvert(), "mine"_a.noconvert(), "first_byte"_a, "root"_a)
      .def(
          "all_to_all",
          [](collectives& self, vector_in<std::uint8_t> mine, const std::vector<std::size_t>& counts,
             vector_inout<std::uint8_t> all, const std::vector<std::size_t>& coming) {
            return call(self.iall_to_all(view(mine), counts, view(all), coming));
          },
          "mine"_a.noconvert(), "counts"_a, "all"_a.noconvert(), "coming"_a)
      .def(
          "exchange",
          [](collectives& self, vector_in<std::uint8_t> mine, const neighbours& to, vector_inout<std::uint8_t> all,
             const neighbours& from) {
            return call(self.iexchange(view(mine), as_neighbours(to), view(all), as_neighbours(from)));
          },
          "mine"_a.noconvert(), "to"_a, "all"_a.noconvert(), "from_ranks"_a)
      .def(
          "exchange_any",
          [](collectives& self, vector_in<std::uint8_t> mine, const neighbours& to) {
            return arrivals_call{arrivals_call::by(
                [&self, mine = view(mine), to = as_neighbours(to)] { return self.exchange_any(mine, to); })};
          },
          "mine"_a.noconvert(), "to"_a);
  bind_sums<std::int32_t>(operations);
  bind_sums<std::int64_t>(operations);
  bind_sums<std::uint64_t>(operations);
  bind_sums<float>(operations);
  bind_sums<double>(operations);
}

void bind_calls(nb::module_& m) {
  nb::class_<plaq::comm::messenger>(m, "Messenger");

  nb::class_<call>(m, "Call", "Call that may wait for other ranks.")
      .def("wait", &call::wait, "seconds"_a)
      .def("get", &call::get);
  nb::class_<message>(m, "MessageCall").def("wait", &message::wait, "seconds"_a).def("get", &message::get);
  nb::class_<arrivals_call, call>(m, "ArrivalsCall").def("get", &arrivals_call::take_bytes);
  bind_call_for<owned_group>(m, "CommunicatorCall");
  bind_call_for<std::pair<double, double>>(m, "PairCall");
  bind_call_for<std::unique_ptr<collectives>>(m, "CollectivesCall");
  bind_call_for<std::unique_ptr<plaq::comm::messenger>>(m, "MessengerCall");
}

void bind_heartbeat(nb::module_& m) {
  using plaq::comm::heartbeat;
  nb::class_<heartbeat>(m, "Heartbeat", "Heartbeat of all ranks; see heartbeat.hpp.")
      .def("set_waiting", &heartbeat::set_waiting, "yes"_a)
      .def("agree_to_end", &heartbeat::agree_to_end)
      .def("poll", &heartbeat::poll, "ranks"_a, "period"_a)
      .def_prop_ro("size", &heartbeat::size)
      .def(
          "report_of",
          [](const heartbeat& self, int rank) {
            constexpr std::array names{"works", "waits", "ended"};
            const auto r = self.report_of(rank);
            return std::tuple(r.age, std::string(names[std::size_t(r.what)]), r.idle);
          },
          "rank"_a);
  m.def(
      "heartbeat", [](const group& world) -> heartbeat& { return heartbeat::in(world.ranks); }, "world"_a,
      nb::rv_policy::reference, nb::call_guard<nb::gil_scoped_release>());
}

/// Binds methods of collective operations, and the times of them that were measured here.
void bind_methods(nb::module_& m) {
  nb::class_<plaq::comm::method>(m, "Method", "Method of a collective operation.")
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
      [](const group& over, const std::string& operation, std::size_t bytes, int repeats) {
        nb::gil_scoped_release released;
        std::vector<std::pair<plaq::comm::method, double>> out;
        for (const auto& f :
             plaq::comm::measure_candidates(over.ranks, plaq::comm::collective_named(operation), bytes, repeats))
          out.emplace_back(f.by, f.seconds);
        return out;
      },
      "over"_a, "operation"_a, "bytes"_a, "repeats"_a,
      "Return [(method, seconds)] of every method of an operation on blocks of `bytes`, the quickest first.");
  m.def(
      "candidates",
      [](const std::string& operation, int ranks, std::size_t bytes) {
        return plaq::comm::candidates(plaq::comm::collective_named(operation), ranks, bytes);
      },
      "operation"_a, "ranks"_a, "bytes"_a, "Return the methods that may be the quickest.");
  m.def("tuning_path", &plaq::comm::tuning::path, "Return the path of this machine's tuning table.");
}

void bind_simulation(nb::module_& m) {
  using plaq::comm::machine;
  nb::class_<machine::level>(m, "Level")
      .def(nb::init<int, double, double, double>(), "ranks"_a, "latency"_a, "gap"_a, "per_byte"_a);
  nb::class_<machine>(m, "Machine", "LogGP machine with a hierarchy of shared links; see simulation.hpp.")
      .def(nb::init<std::vector<machine::level>, double, double, std::size_t, int, double>(), "levels"_a, "overhead"_a,
           "combine_per_byte"_a, "eager"_a, "cores"_a, "turn"_a);
  nb::class_<plaq::comm::simulation_result>(m, "SimulationResult")
      .def_ro("seconds", &plaq::comm::simulation_result::seconds)
      .def_ro("messages", &plaq::comm::simulation_result::messages)
      .def_ro("between_nodes", &plaq::comm::simulation_result::between_nodes)
      .def_ro("bytes_between_nodes", &plaq::comm::simulation_result::bytes_between_nodes);
  m.def(
      "simulate",
      [](const std::string& operation, std::size_t bytes, const plaq::comm::method& by, const machine& on, int ranks,
         int root) {
        nb::gil_scoped_release released;
        return plaq::comm::simulate({plaq::comm::collective_named(operation), root, bytes, 1}, by, on, ranks);
      },
      "operation"_a, "bytes"_a, "by"_a, "on"_a, "ranks"_a, "root"_a = 0);
}

}  // namespace

void bind_comm(nb::module_& m) {
  bind_communicator(m);
  bind_collectives(m);
  bind_calls(m);
  bind_heartbeat(m);
  bind_methods(m);
  bind_simulation(m);
  m.def("mpi_is_ours", &plaq::comm::mpi_is_ours, "Return whether plaq started MPI.");
  m.def("library_version", &plaq::comm::library_version,
        "Return the version of the MPI of this process; empty without.");
  m.def("thread_level", &plaq::comm::thread_level,
        "Return the thread level that MPI granted; empty if it is not running.");
  m.def(
      "mpiexec", [] { return plaq::comm::describe_mpi().mpiexec; },
      "Return the path of the launcher beside that MPI; empty if there is none.");
  m.def(
      "describe_mpi",
      [] {
        const auto mpi = plaq::comm::describe_mpi();
        return std::map<std::string, std::string>{
            {"library", mpi.library}, {"in_words", mpi.in_words}, {"why_none", mpi.why_none}};
      },
      "Return the library of the MPI of this process and its version and place in words, or why there is none.");
  m.def("launched_rank", &plaq::comm::launched_rank,
        "Return the number that the launcher of this process gave it; 0 without launcher.");
}
