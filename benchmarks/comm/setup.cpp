// What the set-up of `collectives` costs: the first of a communicator, and one more. Of the rank that has most:
// messages and bytes that plaq sends, memory that stays (with MPI's own), processor time of the least of some rounds.
//
//   mpirun -n RANKS bench_setup [ROUNDS]
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace {

using namespace plaq::comm;

struct counts {
  double communicators = 0, messages = 0, bytes = 0;
};

/// Wire that counts what is asked of it, and of the wires made from it.
class counting_wire final : public wire {
 public:
  counting_wire(std::unique_ptr<wire> over, counts& made) : over_(std::move(over)), made_(made) {}
  int rank() const override { return over_->rank(); }
  int size() const override { return over_->size(); }
  std::unique_ptr<wire> duplicate() override { return counted(over_->duplicate()); }
  std::unique_ptr<wire> split(int color, int key) override { return counted(over_->split(color, key)); }
  std::unique_ptr<wire> split_by_node() override { return counted(over_->split_by_node()); }
  handle send(const blocks& from, int peer, int tag) override {
    ++made_.messages;
    made_.bytes += double(from.bytes());
    return over_->send(from, peer, tag);
  }
  handle receive(const blocks& to, int peer, int tag) override { return over_->receive(to, peer, tag); }
  void cancel(handle receive) override { over_->cancel(receive); }
  std::optional<arrival> next_arrival() override { return over_->next_arrival(); }
  handle receive(const arrival& which, const blocks& to) override { return over_->receive(which, to); }
  handle prepare_send(const blocks& from, int peer, int tag) override { return over_->prepare_send(from, peer, tag); }
  void start(handle prepared, std::size_t bytes) override { over_->start(prepared, bytes); }
  void forget(handle prepared) override { over_->forget(prepared); }
  void test(std::span<handle> in_progress, std::vector<end>& ends) override { over_->test(in_progress, ends); }

 private:
  std::unique_ptr<wire> counted(std::unique_ptr<wire> fresh) {
    ++made_.communicators;
    return std::make_unique<counting_wire>(std::move(fresh), made_);
  }
  std::unique_ptr<wire> over_;
  counts& made_;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const communicator world = plaq::comm::world();
  collectives all(world);
  std::array<std::array<double, 5>, 2> found{};
  for (int round = 0; round < rounds; ++round) {
    counts made;
    const communicator over(std::make_unique<counting_wire>(world.open_wire(), made));
    std::vector<std::unique_ptr<collectives>> kept;
    for (auto& f : found) {
      all.barrier();
      made = {};
      const double memory = double(mallinfo2().uordblks), begin = processor_seconds();
      kept.push_back(std::make_unique<collectives>(over));
      std::array now{made.communicators, made.messages, made.bytes, double(mallinfo2().uordblks) - memory,
                     1e6 * (processor_seconds() - begin)};
      all.all_reduce(now, operation::max);
      if (round == 0) f = now;
      for (std::size_t i = 3; i < now.size(); ++i) f[i] = std::min(f[i], now[i]);
    }
  }
  if (world.rank() == 0)
    for (const bool first : {true, false}) {
      const auto& f = found[first ? 0 : 1];
      std::printf("%4d ranks, %-6s %.0f communicators, %.0f messages of %.0f bytes, %.0f bytes stay, %.0f us\n",
                  world.size(), first ? "first:" : "next:", f[0], f[1], f[2], f[3], f[4]);
    }
  return 0;
}
