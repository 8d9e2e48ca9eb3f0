#include "plaq/dca/device/walker.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/fill.hpp"

namespace plaq::dca::device {

walker::walker(chain_device& where, std::uint32_t number, bool measures) : where_(where), measures_(measures) {
  chain_.g0 = where.bath(number, chain_.g_equal);
}

void walker::begin(const configuration& start, const stream_id& proposals, const stream_id& worms) {
  const int k = int(start.vertices.size()), block_length = where_.rules().block_length;
  if (k + block_length > chain_.capacity) allocate(capacity_for(k, block_length));
  std::vector<std::byte> shared(shared_.size());
  workspace r;
  allocate_shared(r, shared.data(), chain_.capacity, block_length);
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
  shared_.put(0, shared.data(), shared.size());
  chain_.proposals = proposals;
  chain_.worms = worms;
  chain_.state = {};
  chain_.state.order = k;
}

void walker::sweeps(int count) {
  chain_.target_sweeps = chain_.state.sweeps + count;
  chain_.measured = {};
  advance();
}

void walker::measurements(int count, accumulator& to) {
  check(measures_, "walker: a walk without a workspace to measure");
  chain_.target_sweeps = chain_.state.sweeps + where_.measured().rules().sweeps_per_measurement;
  chain_.measured = to.state;
  chain_.measured.workspace = scratch_.data();
  chain_.measured.target = to.state.done + count;
  advance();
  to.state = chain_.measured;
}

void walker::advance() {
  for (;;) {
    where_.advance(chain_);
    if (chain_.state.status == walk_status::done) return;
    if (chain_.state.status == walk_status::not_finite) throw runtime_failure("walker: the weight is not finite");
    enlarge();
  }
}

int walker::capacity_for(int vertices, int block_length) {
  return (vertices + vertices / 2 + block_length + 15) / 16 * 16;
}

void walker::allocate(int capacity) {
  chain_.capacity = capacity;
  workspace none;
  shared_ = {};  // freed before the larger ones are allocated
  global_ = {};
  scratch_ = {};
  shared_ = gpu::memory(where_.where(), allocate_shared(none, nullptr, chain_.capacity, where_.rules().block_length));
  global_ = gpu::memory(where_.where(), allocate_global(none, nullptr, chain_.capacity));
  chain_.shared = shared_.data();
  chain_.global = global_.data();
  if (!measures_) return;
  measurement_workspace no_scratch;
  const measurement_sizes& sizes = where_.measured().rules().sizes;
  scratch_ = gpu::memory(where_.where(), allocate_measurement(no_scratch, nullptr, sizes, chain_.capacity));
  chain_.measured.workspace = scratch_.data();
}

void walker::enlarge() {
  const host_copy old = copy_to_host();
  const int before = chain_.capacity, k = chain_.state.order;
  allocate(capacity_for(before, where_.rules().block_length));
  std::vector<std::byte> shared(shared_.size());
  workspace to;
  allocate_shared(to, shared.data(), chain_.capacity, where_.rules().block_length);
  for (int side = 0; side < 2; ++side)
    for (int j = 0; j < k; ++j)
      std::copy_n(old.at.n[side] + std::size_t(j) * before, k, to.n[side] + std::size_t(j) * chain_.capacity);
  std::copy_n(old.at.tau, k, to.tau);
  std::copy_n(old.at.site, k, to.site);
  std::copy_n(old.at.spin, k, to.spin);
  std::copy_n(old.at.slot_of, k, to.slot_of);
  shared_.put(0, shared.data(), shared.size());
}

walker::host_copy walker::copy_to_host() const {
  host_copy out;
  out.shared.resize(shared_.size());
  shared_.get(0, out.shared.data(), out.shared.size());
  allocate_shared(out.at, out.shared.data(), chain_.capacity, where_.rules().block_length);
  for (int i = 0; i < chain_.state.order; ++i) {
    const int slot = out.at.slot_of[i];
    out.vertices.vertices.push_back({out.at.site[slot], out.at.spin[slot], out.at.tau[slot]});
  }
  out.vertices.sign = chain_.state.sign;
  return out;
}

void walker::fill(sample& out) const {
  const host_copy from = copy_to_host();
  dca::fill<double>(
      out, where_.parameters(), from.vertices, [&](int i) { return from.at.slot_of[i]; },
      [&](int side, int slot) -> const double* { return from.at.n[side] + std::size_t(slot) * chain_.capacity; });
}

}  // namespace plaq::dca::device
