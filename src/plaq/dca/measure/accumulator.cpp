#include "plaq/dca/measure/accumulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

void check_finite(const bin_result& bin, std::uint32_t chain) {
  for (double x : bin.sums)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain) + " measured a value that is not finite");
}

accumulator::accumulator(const cluster_model& model, const measurement_list& measured, const chain_rules& rules,
                         std::uint32_t chain, two_particle_sink* elsewhere)
    : rules_(rules),
      chain_(chain),
      layout_(layout_of(model.parameters.sites, measured)),
      single_particle_(model.parameters.beta, model.parameters.sites, measured.odd_frequencies, model.difference),
      correlations_(model.g0, model.difference, stream_id{}),
      elsewhere_(elsewhere),
      sign_(named(layout_, "sign").offset),
      order_(named(layout_, "order").offset),
      weight_(named(layout_, "weight").offset),
      histogram_(named(layout_, "histogram")) {
  const std::size_t functions = two_particle_layout(model.parameters.sites, measured).size();
  if (elsewhere_) layout_.resize(layout_.size() - functions);
  if (!measured.pairing && measured.channels.empty()) return;
  two_frequency_ = std::make_unique<two_frequency>(model.parameters.beta, model.momenta,
                                                   measured.two_particle_frequencies, measured.g0_frequency);
  if (!elsewhere_) two_particle_ = std::make_unique<two_particle_sums>(measured, *two_frequency_);
}

void accumulator::begin_bin(std::uint64_t bin) {
  correlations_.set_stream(streams::of(rules_, streams::measurement_times, chain_, bin));
  neighbours_ = streams::of(rules_, streams::neighbours, chain_, bin);
  result_.sums.assign(total_size(layout_), 0.);
  result_.series.clear();
  if (two_particle_) two_particle_->begin_bin();
  if (elsewhere_) elsewhere_->begin_bin();
}

void accumulator::accumulate(sample& s) {
  auto& sums = result_.sums;
  sums[sign_] += s.sign;
  sums[order_] += s.sign * s.order();
  sums[histogram_.offset + std::min(std::size_t(s.order()), histogram_.size() - 1)] += 1;
  if (two_frequency_) {
    trace::region here("transform M");
    two_frequency_->prepare(s);
  }
  s.share = share(s);
  measure(s);
  if (result_.series.size() < series_limit) {
    const auto& [density, docc, spin, charge] = correlations_.last();
    result_.series.push_back({float(s.sign), float(s.order()), float(density / s.share), float(docc / s.share),
                              float(spin / s.share), float(charge / s.share)});
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
  result_.sums[weight_] += s.weight();
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
  const std::span<double> sums = result_.sums;
  const auto from_to = [&](const char* first, const char* last) {
    const std::size_t begin = named(layout_, first).offset;
    const bin_array& end = named(layout_, last);
    return sums.subspan(begin, end.offset + end.size() - begin);
  };
  single_particle_.flush(from_to("single_particle", "single_particle"));
  correlations_.flush(from_to("density", "equal_time"));
  if (two_particle_) {
    const auto functions = two_particle_->end_bin();
    std::ranges::copy(functions, sums.last(functions.size()).begin());
  }
  if (elsewhere_) elsewhere_->end_bin();
  check_finite(result_, chain_);
  return std::move(result_);
}

}  // namespace plaq::dca
