// Share of the hopping matrix's communication that is hidden, over a wire with a given latency:
//   mpirun -n 2 bench_overlap [workers] [T X Y Z] [latency in us ...]
// "first": messages, then all groups; "faces": messages, meanwhile the interior groups (as plaq does), then the
// boundary; "graph": one task graph, whose tasks on boundary groups start when the faces that they read have arrived.
//   mpirun -n 2 bench_overlap trace FOLDER && plaq trace report FOLDER
// shows two calls of each with a latency of 1 ms on a timeline.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/task/dataflow.hpp"
#include "plaq/task/fiber.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"
#include "slow_wire.hpp"

using namespace plaq;
using namespace plaq::lqcd;

namespace {

/// The hopping matrix once more, with messages of its own.
class hopping_over {
 public:
  hopping_over(const comm::communicator& ranks, const site_layout& layout, hopping_args<double> args, int workers)
      : layout_(layout), args_(args), messages_(ranks), pool_({.workers = workers}), parts_(16 * std::size_t(workers)) {
    for (int d = 0; d < neighbours; ++d) {
      if (!layout.is_cut(d / 2)) continue;
      const auto size = std::size_t(layout.face_size(d / 2)) * 12;
      halo_[d].resize(size * layout.lanes()), args_.faces[d] = halo_[d].data();
      send_buffer_[d].resize(size * layout.lanes_at_edge(d).size()), receive_buffer_[d].resize(send_buffer_[d].size());
    }
  }

  void call(int way) { way == 0 ? first() : way == 1 ? faces() : graph(); }

  task::fiber::pool& pool() { return pool_; }

 private:
  void first() {
    const trace::region seen("first");
    auto receives = begin();
    for (int d = 0; d < neighbours; ++d)
      if (receives[d].valid()) receives[d].get(), unpack(d);
    inside(), outside();
    end();
  }
  void faces() {
    const trace::region seen("faces");
    auto receives = begin();
    inside();
    for (int d = 0; d < neighbours; ++d)
      if (receives[d].valid()) receives[d].get(), unpack(d);
    outside();
    end();
  }
  void graph() {
    const trace::region seen("graph");
    auto receives = begin();
    std::vector<task::shared_future<void>> here(neighbours);
    for (int d = 0; d < neighbours; ++d)
      if (receives[d].valid())
        here[d] = receives[d].then(pool_, "unpack", [this, d](auto f) { f.get(), unpack(d); }).share();
    std::vector<task::future<void>> all;
    const auto& groups = layout_.boundary(args_.parity);
    for (std::size_t p = 0; p < parts_; ++p) {
      const auto part = std::span(groups).subspan(groups.size() * p / parts_,
                                                  groups.size() * (p + 1) / parts_ - groups.size() * p / parts_);
      unsigned edges = 0;
      for (const auto b : part) edges |= layout_.edges(b) >> 8;
      std::vector<task::shared_future<void>> needs;
      for (int d = 0; d < neighbours; ++d)
        if (edges >> d & 1) needs.push_back(here[d]);
      all.push_back(task::dataflow(pool_, "outside", [this, part] { hop(args_, part); }, std::move(needs)));
    }
    inside();
    for (auto& one : all) one.get();
    end();
  }

  std::array<task::future<comm::status>, neighbours> begin() {
    const trace::region seen("pack and send");
    std::array<task::future<comm::status>, neighbours> receives;
    const auto peer = [&](int d, bool there) {
      return layout_.lattice().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1);
    };
    for (int d = 0; d < neighbours; ++d)
      if (layout_.is_cut(d / 2)) receives[d] = messages_.irecv(std::span(receive_buffer_[d]), peer(d, true), d);
    for (int d = 0; d < neighbours; ++d) {
      if (!layout_.is_cut(d / 2)) continue;
      pack_face(args_, d, 0, std::size_t(layout_.face_size(d / 2)), send_buffer_[d].data());
      sends_.push_back(messages_.isend(std::span(send_buffer_[d]), peer(d, false), d));
    }
    return receives;
  }
  void unpack(int d) { unpack_face(args_, d, 0, std::size_t(layout_.face_size(d / 2)), receive_buffer_[d].data()); }
  void end() {
    for (auto& g : sends_) g.get();
    sends_.clear();
  }
  void in_parts(task::task_name name, std::span<const std::int32_t> groups) {
    task::parallel_for(pool_, name, std::size_t(0), parts_, [&](std::size_t p) {
      const auto from = groups.size() * p / parts_, to = groups.size() * (p + 1) / parts_;
      hop(args_, groups.subspan(from, to - from));
      if (task::detail::anything_expected()) task::detail::poll_once();
    });
  }
  void inside() { in_parts("inside", layout_.interior(args_.parity)); }
  void outside() { in_parts("outside", layout_.boundary(args_.parity)); }

  const site_layout& layout_;
  hopping_args<double> args_;
  comm::messenger messages_;
  task::fiber::pool pool_;
  std::size_t parts_;
  std::array<std::vector<double>, neighbours> halo_, send_buffer_, receive_buffer_;
  std::vector<task::future<comm::status>> sends_;
};

}  // namespace

namespace {

/// Two calls of each way after one that is not recorded.
void record(const char* folder, const comm::communicator& world, comm::collectives& collectives, hopping_over& over) {
  const auto round = [&] {
    for (int way = 0; way < 3; ++way) {
      over.pool().async("barrier", [&] { collectives.barrier(); }).get();
      over.pool().async("H", [&] { over.call(way); }).get();
    }
  };
  round();
  trace::session session({.folder = folder, .rank = world.rank()});
  const auto offset = comm::measure_clock_offset(world);
  session.set_clock_offset(offset.seconds, offset.error);
  round(), round();
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = argc == 3 && std::string_view(argv[1]) == "trace" ? argv[2] : nullptr;
  if (folder) argc = 1;
  const int workers = argc > 1 ? std::atoi(argv[1]) : 1;
  coordinates extents{32, 16, 16, 16};
  for (int mu = 0; mu < 4 && argc > 5; ++mu) extents[mu] = std::atoi(argv[2 + mu]);
  std::vector<double> latencies;
  for (int i = 6; i < argc; ++i) latencies.push_back(1e-6 * std::atof(argv[i]));
  if (folder) latencies = {1e-3};
  if (latencies.empty()) latencies = {0, 2e-4, 5e-4, 1e-3, 2e-3};
  const auto world = comm::world();
  comm::collectives collectives(world);
  const auto grid = choose_grid(world.size(), extents);
  const auto layout = std::make_shared<site_layout>(lattice(extents, grid, world.rank()), max_lanes<double>());
  links<double> gauge(layout);
  hot_start(gauge, 1);
  spinors<double> in(layout), out(layout), expected(layout);
  gaussian(in, 1);
  const auto worker_group = make_workers("fiber", {.workers = 1});
  comm::messenger plain(world);
  context ctx{*worker_group, plain, collectives};
  hopping<double> H(ctx, gauge);
  H(expected, in, 0);
  if (world.rank() == 0 && !folder)
    std::printf("lattice,ranks,workers,latency_us,first_us,faces_us,graph_us,hidden_faces,hidden_graph\n");
  double without[3] = {};
  for (std::size_t l = 0; l < latencies.size(); ++l) {
    const comm::communicator slow(
        std::make_unique<bench::slow_wire>(world.open_wire(), bench::slow_wire::line{latencies[l], 1e10}));
    auto args = H.kernel_args(in, 0, false);
    args.out = out.of(0);
    hopping_over over(slow, *layout, args, workers);
    if (folder) return record(folder, world, collectives, over), 0;
    double best[3] = {1e9, 1e9, 1e9};
    bool wrong = false;
    over.pool()
        .async("bench",
               [&] {
                 for (int repeat = 0; repeat < 30; ++repeat)
                   for (int way = 0; way < 3; ++way) {
                     std::fill_n(out.of(0), out.size() / 2, 0.0);
                     collectives.barrier();
                     const stopwatch time;
                     over.call(way);
                     std::vector<double> took{time.seconds()};
                     collectives.all_reduce(took, comm::operation::max);
                     best[way] = std::min(best[way], took[0]);
                     wrong = wrong || std::memcmp(out.of(0), expected.of(0), out.size() / 2 * sizeof(double)) != 0;
                   }
               })
        .get();
    if (wrong) return std::fprintf(stderr, "the ways differ in their results\n"), 1;
    if (l == 0) std::copy_n(best, 3, without);
    // Of what the messages add to "first", the share that does not add to the others.
    const double added = best[0] - without[0];
    const auto hidden = [&](int way) { return added > 0 ? 1 - (best[way] - without[way]) / added : 0.0; };
    if (world.rank() == 0)
      std::printf("%s,%d,%d,%.0f,%.1f,%.1f,%.1f,%.2f,%.2f\n", to_string(extents).c_str(), world.size(), workers,
                  1e6 * latencies[l], 1e6 * best[0], 1e6 * best[1], 1e6 * best[2], l ? hidden(1) : 0,
                  l ? hidden(2) : 0);
  }
}
