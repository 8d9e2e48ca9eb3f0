#include "plaq/comm/wire/clock_offset.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Pairs of numbers between two ranks, with busy waiting.
class link {
 public:
  link(wire& over, int peer) : wire_(over), peer_(peer) {}
  void send(std::array<double, 2> values) { wait(wire_.send(bytes(values), peer_, 0)); }
  std::array<double, 2> receive() {
    std::array<double, 2> values{};
    wait(wire_.receive(bytes(values), peer_, 0));
    return values;
  }

 private:
  static blocks bytes(std::array<double, 2>& values) {
    return {reinterpret_cast<std::byte*>(values.data()), sizeof(values), 1, sizeof(values)};
  }
  void wait(wire::handle h) {
    while (ends_.empty()) {
      wire_.test({&h, 1}, ends_);
      std::this_thread::yield();  // the other rank may need this core
    }
    if (const auto why = ends_[0].error; !why.empty())
      throw runtime_failure("rank " + std::to_string(wire_.rank()) + ": the clock of rank " + std::to_string(peer_) +
                            ": " + why);
    ends_.clear();
  }

  wire& wire_;
  int peer_;
  std::vector<wire::end> ends_;
};

/// Returns the offset by the quickest of several trips, in which the time of the peer's reading is known best.
clock_offset ask(link to, int trips) {
  clock_offset best{0, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < trips; ++i) {
    const double sent = now();
    to.send({});
    const double there = to.receive()[0];
    const double back = now(), error = 0.5 * (back - sent);
    if (error < best.error) best = {0.5 * (sent + back) - there, error};
  }
  return best;
}

}  // namespace

clock_offset measure_clock_offset(const communicator& all, int trips) {
  const auto own = all.open_wire();
  for (int peer = 1; peer < all.size(); ++peer) {
    if (all.rank() == 0) {
      const clock_offset offset = ask({*own, peer}, trips);
      link(*own, peer).send({offset.seconds, offset.error});
    } else if (all.rank() == peer) {
      link to(*own, 0);
      for (int i = 0; i < trips; ++i) {
        to.receive();
        to.send({now()});
      }
      const auto offset = to.receive();
      return {offset[0], offset[1]};
    }
  }
  return {0, 0};
}

}  // namespace plaq::comm
