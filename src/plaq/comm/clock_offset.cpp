#include "plaq/comm/clock_offset.hpp"

#include <array>
#include <chrono>
#include <limits>

namespace plaq::comm {

namespace {

constexpr int tag = last_tag;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The peer reads its clock at some moment of the trip; of the quickest one that moment is known best.
clock_offset ask(const communicator& all, int peer, int trips) {
  clock_offset best{0, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < trips; ++i) {
    std::array<double, 1> time{};
    const double sent = now();
    all.send(time, peer, tag);
    all.receive(time, peer, tag);
    const double back = now(), error = 0.5 * (back - sent);
    if (error < best.error) best = {0.5 * (sent + back) - time[0], error};
  }
  return best;
}

}  // namespace

clock_offset measure_clock_offset(const communicator& all, int trips) {
  std::array<double, 2> mine{0, 0};
  for (int peer = 1; peer < all.size(); ++peer) {
    if (all.rank() == 0) {
      const clock_offset found = ask(all, peer, trips);
      all.send(std::array{found.seconds, found.error}, peer, tag);
    } else if (all.rank() == peer) {
      for (int i = 0; i < trips; ++i) {
        std::array<double, 1> time{};
        all.receive(time, 0, tag);
        time[0] = now();
        all.send(time, 0, tag);
      }
      all.receive(mine, 0, tag);
    }
  }
  return {mine[0], mine[1]};
}

}  // namespace plaq::comm
