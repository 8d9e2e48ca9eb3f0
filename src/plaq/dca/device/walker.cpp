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
  std::vector<std::byte> vertices(vertices_.size());
  vertex_arrays r;
  allocate_vertices(r, vertices.data(), chain_.capacity);
  for (int i = 0; i < k; ++i) {
    const vertex& v = start.vertices[i];
    check(v.site >= 0 && v.site < where_.parameters().sites && v.tau >= 0 && v.tau < where_.parameters().beta &&
              (v.spin == 1 || v.spin == -1),
          "walker: a vertex lies outside the problem");
    r.site[i] = v.site;
    r.spin[i] = v.spin;
    r.tau[i] = v.tau;
  }
  vertices_.put(0, vertices.data(), vertices.size());
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
  chain_.measured.workspace = measured_.data();
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
  vertex_arrays none;
  const int block_length = where_.rules().block_length;
  vertices_ = {};  // freed before the larger ones are allocated
  scratch_ = {};
  measured_ = {};
  vertices_ = gpu::memory(where_.where(), allocate_vertices(none, nullptr, chain_.capacity));
  scratch_ = gpu::memory(where_.where(), scratch_bytes(chain_.capacity, block_length));
  chain_.vertices = vertices_.data();
  chain_.scratch = scratch_.data();
  if (!measures_) return;
  measurement_workspace no_scratch;
  const measurement_sizes& sizes = where_.measured().rules().sizes;
  measured_ = gpu::memory(where_.where(), allocate_measurement(no_scratch, nullptr, sizes, chain_.capacity));
  chain_.measured.workspace = measured_.data();
}

void walker::enlarge() {
  const host_copy old = copy_to_host();
  const int before = chain_.capacity, k = chain_.state.order;
  allocate(capacity_for(before, where_.rules().block_length));
  std::vector<std::byte> vertices(vertices_.size());
  vertex_arrays to;
  allocate_vertices(to, vertices.data(), chain_.capacity);
  for (int side = 0; side < 2; ++side)
    for (int j = 0; j < k; ++j)
      std::copy_n(old.at.n[side] + std::size_t(j) * before, k, to.n[side] + std::size_t(j) * chain_.capacity);
  std::copy_n(old.at.tau, k, to.tau);
  std::copy_n(old.at.site, k, to.site);
  std::copy_n(old.at.spin, k, to.spin);
  vertices_.put(0, vertices.data(), vertices.size());
}

walker::host_copy walker::copy_to_host() const {
  host_copy out;
  out.memory.resize(vertices_.size());
  vertices_.get(0, out.memory.data(), out.memory.size());
  allocate_vertices(out.at, out.memory.data(), chain_.capacity);
  for (int i = 0; i < chain_.state.order; ++i)
    out.vertices.vertices.push_back({out.at.site[i], out.at.spin[i], out.at.tau[i]});
  out.vertices.sign = chain_.state.sign;
  return out;
}

void walker::fill(sample& out) const {
  const host_copy from = copy_to_host();
  dca::fill<double>(
      out, where_.parameters(), from.vertices, [](int i) { return i; },
      [&](int side, int i) -> const double* { return from.at.n[side] + std::size_t(i) * chain_.capacity; });
}

}  // namespace plaq::dca::device
