// What the hopping matrix hides of its messages, over a wire that takes a set time:
//   mpirun -n 2 bench_overlap [workers] [T X Y Z] [latency in us ...]
// "first": messages, then all blocks; "faces": messages, meanwhile the blocks inside (plaq's own way), then those
// at edges; "graph": one task graph, whose tasks on blocks at edges start when the faces that they read have come.
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
#include "plaq/lqcd/hopping.hpp"
#include "plaq/lqcd/random_fields.hpp"
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
  hopping_over(const comm::communicator& ranks, const layout& where, hop_work<double> work, int workers)
      : where_(where), work_(work), messages_(ranks), pool_({.workers = workers}), parts_(16 * std::size_t(workers)) {
    for (int d = 0; d < neighbours; ++d) {
      if (!where.is_cut(d / 2)) continue;
      const auto size = std::size_t(where.face_size(d / 2)) * 12;
      ready_[d].resize(size * where.lanes()), work_.faces[d] = ready_[d].data();
      send_[d].resize(size * where.lanes_at_edge(d).size()), came_[d].resize(send_[d].size());
    }
  }

  void call(int way) { way == 0 ? first() : way == 1 ? faces() : graph(); }

  task::fiber::pool& pool() { return pool_; }

 private:
  void first() {
    const trace::region seen("first");
    auto coming = begin();
    for (int d = 0; d < neighbours; ++d)
      if (coming[d].valid()) coming[d].get(), unpack(d);
    inside(), outside();
    end();
  }
  void faces() {
    const trace::region seen("faces");
    auto coming = begin();
    inside();
    for (int d = 0; d < neighbours; ++d)
      if (coming[d].valid()) coming[d].get(), unpack(d);
    outside();
    end();
  }
  void graph() {
    const trace::region seen("graph");
    auto coming = begin();
    std::vector<task::shared_future<void>> here(neighbours);
    for (int d = 0; d < neighbours; ++d)
      if (coming[d].valid())
        here[d] = coming[d].then(pool_, "unpack", [this, d](auto f) { f.get(), unpack(d); }).share();
    std::vector<task::future<void>> all;
    const auto& blocks = where_.outside(work_.parity);
    for (std::size_t p = 0; p < parts_; ++p) {
      const auto part = std::span(blocks).subspan(blocks.size() * p / parts_,
                                                  blocks.size() * (p + 1) / parts_ - blocks.size() * p / parts_);
      unsigned edges = 0;
      for (const auto b : part) edges |= where_.edges(b) >> 8;
      std::vector<task::shared_future<void>> needs;
      for (int d = 0; d < neighbours; ++d)
        if (edges >> d & 1) needs.push_back(here[d]);
      all.push_back(task::dataflow(pool_, "outside", [this, part] { hop(work_, part); }, std::move(needs)));
    }
    inside();
    for (auto& one : all) one.get();
    end();
  }

  std::array<task::future<comm::status>, neighbours> begin() {
    const trace::region seen("pack and send");
    std::array<task::future<comm::status>, neighbours> coming;
    const auto peer = [&](int d, bool there) {
      return where_.on().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1);
    };
    for (int d = 0; d < neighbours; ++d)
      if (where_.is_cut(d / 2)) coming[d] = messages_.irecv(std::span(came_[d]), peer(d, true), d);
    for (int d = 0; d < neighbours; ++d) {
      if (!where_.is_cut(d / 2)) continue;
      pack_face(work_, d, 0, std::size_t(where_.face_size(d / 2)), send_[d].data());
      going_.push_back(messages_.isend(std::span(send_[d]), peer(d, false), d));
    }
    return coming;
  }
  void unpack(int d) { unpack_face(work_, d, 0, std::size_t(where_.face_size(d / 2)), came_[d].data()); }
  void end() {
    for (auto& g : going_) g.get();
    going_.clear();
  }
  void in_parts(task::task_name name, std::span<const std::int32_t> blocks) {
    task::parallel_for(pool_, name, std::size_t(0), parts_, [&](std::size_t p) {
      const auto from = blocks.size() * p / parts_, to = blocks.size() * (p + 1) / parts_;
      hop(work_, blocks.subspan(from, to - from));
      if (task::detail::anything_expected()) task::detail::poll_once();
    });
  }
  void inside() { in_parts("inside", where_.inside(work_.parity)); }
  void outside() { in_parts("outside", where_.outside(work_.parity)); }

  const layout& where_;
  hop_work<double> work_;
  comm::messenger messages_;
  task::fiber::pool pool_;
  std::size_t parts_;
  std::array<std::vector<double>, neighbours> ready_, send_, came_;
  std::vector<task::future<comm::status>> going_;
};

}  // namespace

namespace {

/// Two calls of each way after one that is not recorded.
void record(const char* folder, const comm::communicator& world, comm::collectives& together, hopping_over& over) {
  const auto round = [&] {
    for (int way = 0; way < 3; ++way) {
      over.pool().async("barrier", [&] { together.barrier(); }).get();
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
  comm::collectives together(world);
  const auto grid = grid_for(world.size(), extents);
  const auto where = std::make_shared<layout>(lattice(extents, grid, world.rank()), widest<double>());
  links<double> gauge(where);
  hot_start(gauge, 1);
  spinors<double> in(where), out(where), expected(where);
  gaussian(in, 1);
  const auto hands = make_workers("fiber", {.workers = 1});
  comm::messenger plain(world);
  engine by{*hands, plain, together};
  hopping<double> H(by, gauge);
  H(expected, in, 0);
  if (world.rank() == 0 && !folder)
    std::printf("lattice,ranks,workers,latency_us,first_us,faces_us,graph_us,hidden_faces,hidden_graph\n");
  double without[3] = {};
  for (std::size_t l = 0; l < latencies.size(); ++l) {
    const comm::communicator slow(
        std::make_unique<bench::slow_wire>(world.open_wire(), bench::slow_wire::line{latencies[l], 1e10}));
    auto work = H.work(in, 0, false);
    work.out = out.of(0);
    hopping_over over(slow, *where, work, workers);
    if (folder) return record(folder, world, together, over), 0;
    double best[3] = {1e9, 1e9, 1e9};
    bool wrong = false;
    over.pool()
        .async("bench",
               [&] {
                 for (int repeat = 0; repeat < 30; ++repeat)
                   for (int way = 0; way < 3; ++way) {
                     std::fill_n(out.of(0), out.size() / 2, 0.0);
                     together.barrier();
                     const stopwatch time;
                     over.call(way);
                     std::vector<double> took{time.seconds()};
                     together.all_reduce(took, comm::operation::max);
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
      std::printf("%s,%d,%d,%.0f,%.1f,%.1f,%.1f,%.2f,%.2f\n", in_words(extents).c_str(), world.size(), workers,
                  1e6 * latencies[l], 1e6 * best[0], 1e6 * best[1], 1e6 * best[2], l ? hidden(1) : 0,
                  l ? hidden(2) : 0);
  }
}
