#include "plaq/dca/accumulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/neighbours.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

namespace {
// After so many measurements single-precision sums move to double: their rounding stays below 1e-6 of the sum.
constexpr int measurements_per_flush = 64;

enum { sign_slice, order_slice, weight_slice, single_particle_slice, correlations_slice, histogram_slice, two_particle_slice };
}  // namespace

std::vector<slice> bin_layout(const problem& p) {
  std::vector<slice> out;
  std::size_t offset = 0;
  auto add = [&](std::string name, std::size_t size) {
    out.push_back({std::move(name), offset, size});
    offset += size;
  };
  const std::size_t n = p.parameters.sites, side = 2 * n * p.window;
  add("sign", 1);
  add("order", 1);
  add("weight", 1);
  add("single_particle", 2 * n * p.odd_frequencies.size());
  add("correlations", 2 + 4 * n);
  add("histogram", p.histogram_size);
  if (p.pairing)
    add("pairing", std::size_t(2) * p.window * p.window * (1 + *std::max_element(p.orbit.begin(), p.orbit.end())));
  for (std::size_t i = 0; i < p.channels.size(); ++i) add("channel_" + std::to_string(i), 2 * side * side);
  return out;
}

accumulator::accumulator(std::shared_ptr<const problem> p, std::uint32_t chain)
    : problem_(std::move(p)),
      chain_(chain),
      layout_(bin_layout(*problem_)),
      single_particle_(problem_->parameters.beta, problem_->parameters.sites, problem_->odd_frequencies,
                       problem_->difference),
      correlations_(problem_->g0, problem_->difference, stream_id{}) {
  if (!problem_->pairing && problem_->channels.empty()) return;
  two_frequency_ = std::make_unique<two_frequency>(problem_->parameters.beta, problem_->momenta,
                                                   problem_->two_particle_frequencies, problem_->g0_frequency);
  if (problem_->pairing) pairing_ = std::make_unique<pairing>(*two_frequency_, problem_->orbit, problem_->window);
  for (const channel_request& c : problem_->channels)
    channels_.emplace_back(*two_frequency_, c.kind, c.transfer, c.bosonic, problem_->window);
}

void accumulator::begin_bin(std::uint64_t bin) {
  auto stream = [&](std::uint32_t purpose) {
    return stream_id{problem_->seed, purpose, problem_->point, problem_->iteration, chain_, bin};
  };
  correlations_.set_stream(stream(streams::measurement_times));
  neighbours_ = stream(streams::neighbours);
  result_.sums.assign(layout_.back().offset + layout_.back().size, 0.);
  result_.series.clear();
  since_flush_ = 0;
}

void accumulator::accumulate(sample& s) {
  auto& sums = result_.sums;
  sums[layout_[sign_slice].offset] += s.sign;
  sums[layout_[order_slice].offset] += s.sign * s.order();
  sums[layout_[histogram_slice].offset + std::min(s.order(), problem_->histogram_size - 1)] += 1;
  if (two_frequency_) {
    trace::region here("transform M");
    two_frequency_->prepare(s);
  }
  s.share = share(s);
  measure(s);
  if (result_.series.size() < series_limit) {
    const auto [density, docc] = correlations_.last();
    result_.series.push_back(
        {float(s.sign), float(s.order()), float(density / s.share), float(docc / s.share)});
  }
  if (s.order() > 0) {
    {
      trace::region here("neighbour");
      flip(s, int(below(random_words(neighbours_, s.index)[0], s.order())), flipped_);
      flipped_.share = share(flipped_);
    }
    measure(flipped_);
  }
  if (++since_flush_ == measurements_per_flush) flush_two_particle();
}

void accumulator::measure(const sample& s) {
  result_.sums[layout_[weight_slice].offset] += s.weight();
  {
    trace::region here("measure M");
    single_particle_.accumulate(s);
  }
  {
    trace::region here("measure correlations");
    correlations_.accumulate(s);
  }
  if (!two_frequency_) return;
  {
    trace::region here("transform M");
    two_frequency_->evaluate(s, 0, up_);
    two_frequency_->evaluate(s, 1, down_);
  }
  trace::region here("measure G4");
  if (pairing_) pairing_->accumulate(s.weight(), up_, down_);
  for (vertex_channel& c : channels_) c.accumulate(s.weight(), up_, down_);
}

void accumulator::flush_two_particle() {
  trace::region here("flush G4");
  std::size_t next = two_particle_slice;
  auto target = [&] {
    const slice& s = layout_[next++];
    return std::span<double>(result_.sums).subspan(s.offset, s.size);
  };
  if (pairing_) pairing_->flush(target());
  for (vertex_channel& c : channels_) c.flush(target());
  since_flush_ = 0;
}

bin_result accumulator::end_bin() {
  auto target = [&](std::size_t i) {
    return std::span<double>(result_.sums).subspan(layout_[i].offset, layout_[i].size);
  };
  single_particle_.flush(target(single_particle_slice));
  correlations_.flush(target(correlations_slice));
  flush_two_particle();
  for (double x : result_.sums)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain_) + " measured a value that is not finite");
  return std::move(result_);
}

}  // namespace plaq::dca
