#include "plaq/dca/device/accumulator.hpp"

#include <algorithm>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/green_at_times.hpp"
#include "plaq/dca/streams.hpp"

namespace plaq::dca::device {

static_assert(times_measured == green_at_times::times);
static_assert(series_width == series_columns.size() && series_limit == dca::series_limit);

namespace {
std::size_t sums_bytes(const measurement_sizes& s) {
  const std::size_t single = 3 + 2 * std::size_t(s.sites) * s.frequencies + 2 + 5 * s.sites + s.histogram_size;
  return sizeof(double) * (single + s.functions_size());
}
std::size_t functions_bytes(const measurement_sizes& s) { return sizeof(float) * s.functions_size(); }
std::size_t series_bytes(int measurements) {
  return sizeof(record) * std::min(series_limit, std::size_t(measurements));
}
}  // namespace

accumulator::accumulator(chain_device& where, const chain_rules& rules, std::uint32_t chain)
    : rules_(rules), chain_(chain) {
  const measurement_sizes& sizes = where.measured().rules().sizes;
  sums_ = gpu::memory(where.where(), sums_bytes(sizes));
  functions_ = gpu::memory(where.where(), functions_bytes(sizes));
  series_ = gpu::memory(where.where(), series_bytes(rules.measurements_per_bin));
  state.sums = reinterpret_cast<double*>(sums_.data());
  state.functions = reinterpret_cast<float*>(functions_.data());
  state.series = reinterpret_cast<float*>(series_.data());
  state.g0 = where.measured().g0(chain);
}

void accumulator::begin_bin(std::uint64_t bin) {
  state.target = state.done = state.since_flush = 0;
  state.times = streams::of(rules_, streams::measurement_times, chain_, bin);
  state.neighbours = streams::of(rules_, streams::neighbours, chain_, bin);
  sums_.clear();
  functions_.clear();
}

bin_result accumulator::end_bin() {
  check(state.done == rules_.measurements_per_bin, "a bin on a device ended early");
  bin_result out;
  out.sums.resize(sums_.size() / sizeof(double));
  sums_.get(0, out.sums.data(), sums_.size());
  out.series.resize(series_.size() / sizeof(record));
  series_.get(0, out.series.data(), series_.size());
  check_finite(out, chain_);
  return out;
}

std::size_t chain_bytes(const measurement_sizes& sizes, int vertices, int block_length, int measurements_per_bin) {
  vertex_arrays none;
  measurement_workspace no_scratch;
  return allocate_vertices(none, nullptr, vertices) + scratch_bytes(vertices, block_length) +
         allocate_measurement(no_scratch, nullptr, sizes, vertices) + sums_bytes(sizes) + functions_bytes(sizes) +
         series_bytes(measurements_per_bin);
}

}  // namespace plaq::dca::device
