#include "plaq/dca/device/walker.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/fill.hpp"

namespace plaq::dca::device {

walker::walker(walk_place& where, std::uint32_t number, bool measures) : where_(where), measures_(measures) {
  chain_.g0 = where.bath(number, chain_.g_equal);
}

void walker::begin(const configuration& start, const stream_id& proposals, const stream_id& worms) {
  const int k = int(start.vertices.size()), block_length = where_.rules().block_length;
  if (k + block_length > chain_.capacity) make_room(room_for(k, block_length));
  std::vector<std::byte> hot(hot_.size());
  room r;
  cut_hot(r, hot.data(), chain_.capacity, block_length);
  for (int i = 0; i < k; ++i) {
    const vertex& v = start.vertices[i];
    check(v.site >= 0 && v.site < where_.parameters().sites && v.tau >= 0 && v.tau < where_.parameters().beta &&
              (v.spin == 1 || v.spin == -1),
          "walker: a vertex lies outside the problem");
    r.site[i] = v.site;
    r.spin[i] = v.spin;
    r.tau[i] = v.tau;
    r.slot_of[i] = i;
  }
  hot_.put(0, hot.data(), hot.size());
  chain_.proposals = proposals;
  chain_.worms = worms;
  chain_.state = {};
  chain_.state.order = k;
}

void walker::sweeps(int count) {
  chain_.until = chain_.state.sweeps + count;
  chain_.measured = {};
  take_on();
}

void walker::measurements(int count, accumulator& to) {
  check(measures_, "walker: a walk without room to measure");
  chain_.until = chain_.state.sweeps + where_.measured().rules().sweeps_per_measurement;
  chain_.measured = to.state;
  chain_.measured.room = scratch_.data();
  chain_.measured.until = to.state.done + count;
  take_on();
  to.state = chain_.measured;
}

void walker::take_on() {
  for (;;) {
    where_.take_on(chain_);
    if (chain_.state.how == outcome::done) return;
    if (chain_.state.how == outcome::not_finite) throw runtime_failure("walker: the weight is not finite");
    enlarge();
  }
}

int walker::room_for(int vertices, int block_length) { return (vertices + vertices / 2 + block_length + 15) / 16 * 16; }

void walker::make_room(int capacity) {
  chain_.capacity = capacity;
  room none;
  hot_ = {};  // before the larger ones
  cold_ = {};
  scratch_ = {};
  hot_ = gpu::memory(where_.where(), cut_hot(none, nullptr, chain_.capacity, where_.rules().block_length));
  cold_ = gpu::memory(where_.where(), cut_cold(none, nullptr, chain_.capacity));
  chain_.hot = hot_.data();
  chain_.cold = cold_.data();
  if (!measures_) return;
  measurement_room no_scratch;
  const measurement_sizes& sizes = where_.measured().rules().sizes;
  scratch_ = gpu::memory(where_.where(), cut_measurements(no_scratch, nullptr, sizes, chain_.capacity));
  chain_.measured.room = scratch_.data();
}

void walker::enlarge() {
  const copy old = copied();
  const int before = chain_.capacity, k = chain_.state.order;
  make_room(room_for(before, where_.rules().block_length));
  std::vector<std::byte> hot(hot_.size());
  room to;
  cut_hot(to, hot.data(), chain_.capacity, where_.rules().block_length);
  for (int side = 0; side < 2; ++side)
    for (int j = 0; j < k; ++j)
      std::copy_n(old.in.n[side] + std::size_t(j) * before, k, to.n[side] + std::size_t(j) * chain_.capacity);
  std::copy_n(old.in.tau, k, to.tau);
  std::copy_n(old.in.site, k, to.site);
  std::copy_n(old.in.spin, k, to.spin);
  std::copy_n(old.in.slot_of, k, to.slot_of);
  hot_.put(0, hot.data(), hot.size());
}

walker::copy walker::copied() const {
  copy out;
  out.hot.resize(hot_.size());
  hot_.get(0, out.hot.data(), out.hot.size());
  cut_hot(out.in, out.hot.data(), chain_.capacity, where_.rules().block_length);
  for (int i = 0; i < chain_.state.order; ++i) {
    const int slot = out.in.slot_of[i];
    out.vertices.vertices.push_back({out.in.site[slot], out.in.spin[slot], out.in.tau[slot]});
  }
  out.vertices.sign = chain_.state.sign;
  return out;
}

void walker::fill(sample& out) const {
  const copy from = copied();
  dca::fill<double>(
      out, where_.parameters(), from.vertices, [&](int i) { return from.in.slot_of[i]; },
      [&](int side, int slot) -> const double* { return from.in.n[side] + std::size_t(slot) * chain_.capacity; });
}

}  // namespace plaq::dca::device
