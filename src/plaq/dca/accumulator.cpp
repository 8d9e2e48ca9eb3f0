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
enum {
  sign_slice,
  order_slice,
  weight_slice,
  single_particle_slice,
  correlations_slice,
  histogram_slice,
  two_particle_slice
};
}  // namespace

std::vector<slice> bin_layout(int sites, const measurement_list& measured) {
  std::vector<slice> out;
  std::size_t offset = 0;
  auto add = [&](std::string name, std::size_t size) {
    out.push_back({std::move(name), offset, size});
    offset += size;
  };
  const std::size_t n = std::size_t(sites);
  add("sign", 1);
  add("order", 1);
  add("weight", 1);
  add("single_particle", 2 * n * measured.odd_frequencies.size());
  add("correlations", 2 + 4 * n);
  add("histogram", measured.histogram_size);
  for (const slice& s : two_particle_layout(sites, measured, {})) add(s.name, s.size);
  return out;
}

accumulator::accumulator(const cluster_model& model, const measurement_list& measured, const bin_schedule& schedule,
                         std::uint32_t chain, two_particle_sink* elsewhere)
    : schedule_(schedule),
      histogram_size_(measured.histogram_size),
      chain_(chain),
      layout_(bin_layout(model.parameters.sites, measured)),
      single_particle_(model.parameters.beta, model.parameters.sites, measured.odd_frequencies, model.difference),
      correlations_(model.g0, model.difference, stream_id{}),
      elsewhere_(elsewhere) {
  if (elsewhere_) layout_.resize(two_particle_slice);
  if (!measured.pairing && measured.channels.empty()) return;
  two_frequency_ = std::make_unique<two_frequency>(model.parameters.beta, model.momenta,
                                                   measured.two_particle_frequencies, measured.g0_frequency);
  if (!elsewhere_) two_particle_ = std::make_unique<two_particle_sums>(measured, *two_frequency_);
}

void accumulator::begin_bin(std::uint64_t bin) {
  correlations_.set_stream(streams::of(schedule_, streams::measurement_times, chain_, bin));
  neighbours_ = streams::of(schedule_, streams::neighbours, chain_, bin);
  result_.sums.assign(layout_.back().offset + layout_.back().size, 0.);
  result_.series.clear();
  if (two_particle_) two_particle_->begin_bin();
  if (elsewhere_) elsewhere_->begin_bin();
}

void accumulator::accumulate(sample& s) {
  auto& sums = result_.sums;
  sums[layout_[sign_slice].offset] += s.sign;
  sums[layout_[order_slice].offset] += s.sign * s.order();
  sums[layout_[histogram_slice].offset + std::min(s.order(), histogram_size_ - 1)] += 1;
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
  if (elsewhere_) return elsewhere_->accumulate(s.weight(), up_, down_);
  trace::region here("measure G4");
  two_particle_->accumulate(s.weight(), up_, down_, two_particle_->measure_direct(up_, down_));
}

bin_result accumulator::end_bin() {
  auto target = [&](std::size_t i) {
    return std::span<double>(result_.sums).subspan(layout_[i].offset, layout_[i].size);
  };
  single_particle_.flush(target(single_particle_slice));
  correlations_.flush(target(correlations_slice));
  if (two_particle_) {
    const auto pairs = two_particle_->end_bin();
    std::ranges::copy(pairs, target(two_particle_slice).data());
  }
  if (elsewhere_) elsewhere_->end_bin();
  for (double x : result_.sums)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain_) + " measured a value that is not finite");
  return std::move(result_);
}

}  // namespace plaq::dca
