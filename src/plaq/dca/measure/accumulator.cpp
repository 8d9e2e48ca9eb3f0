#include "plaq/dca/measure/accumulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

using measures::two_point::charge;
using measures::two_point::spin;

void check_finite(const bin_result& bin, std::uint32_t chain) {
  for (double x : bin.sums)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain) + " measured a value that is not finite");
}

template <class Measurement, class... Arguments>
const Measurement& accumulator::add(const char* name, Arguments... arguments) {
  auto measurement = std::make_unique<Measurement>(arguments...);
  const Measurement& out = *measurement;
  correlations_.push_back({array_named(layout_, name), std::move(measurement)});
  return out;
}

accumulator::accumulator(const cluster_model& model, const measurement_list& measured, const chain_rules& rules,
                         std::uint32_t chain, two_particle_sink* sink)
    : rules_(rules),
      chain_(chain),
      layout_(layout_of(model.parameters.sites, measured)),
      single_particle_(model.parameters.beta, model.parameters.sites, measured.odd_frequencies, model.difference),
      green_(model.g0),
      density_(add<measures::density>("density")),
      double_occupancy_(add<measures::double_occupancy>("double_occupancy")),
      spin_(add<measures::equal_time_correlation<spin>>("spin", green_.sites())),
      charge_(add<measures::equal_time_correlation<charge>>("charge", green_.sites())),
      sink_(sink),
      sign_(array_named(layout_, "sign").offset),
      order_(array_named(layout_, "order").offset),
      weight_(array_named(layout_, "weight").offset),
      histogram_(array_named(layout_, "histogram")) {
  add<measures::static_correlation<spin>>("static_spin", green_.sites());
  add<measures::static_correlation<charge>>("static_charge", green_.sites());
  add<measures::equal_time_green>("equal_time", green_.sites());
  const std::size_t functions = two_particle_layout(model.parameters.sites, measured).size();
  if (sink_) layout_.resize(layout_.size() - functions);
  if (!measured.pairing && measured.channels.empty()) return;
  two_frequency_ = std::make_unique<two_frequency>(model.parameters.beta, model.momenta,
                                                   measured.two_particle_frequencies, measured.g0_frequency);
  if (!sink_) two_particle_ = std::make_unique<two_particle_sums>(measured, *two_frequency_);
}

void accumulator::begin_bin(std::uint64_t bin) {
  times_ = streams::of(rules_, streams::measurement_times, chain_, bin);
  neighbours_ = streams::of(rules_, streams::neighbours, chain_, bin);
  result_.sums.resize(total_size(layout_));
  flush();  // discards an abandoned bin
  result_.sums.assign(total_size(layout_), 0.);
  result_.series.clear();
  if (two_particle_) two_particle_->begin_bin();
  if (sink_) sink_->begin_bin();
}

void accumulator::accumulate(sample& s) {
  auto& sums = result_.sums;
  sums[sign_] += s.sign;
  sums[order_] += s.sign * s.order();
  sums[histogram_.offset + std::min(std::size_t(s.order()), histogram_.size() - 1)] += 1;
  if (two_frequency_) {
    trace::region scope("transform M");
    two_frequency_->prepare(s);
  }
  s.mis_weight = mis_weight(s);
  measure(s);
  if (result_.series.size() < series_limit) {
    const auto value = [&](double weighted) { return float(weighted / s.mis_weight); };
    result_.series.push_back({float(s.sign), float(s.order()), value(density_.last()), value(double_occupancy_.last()),
                              value(spin_.last_square()), value(charge_.last_square())});
  }
  if (s.order() > 0) {
    {
      trace::region scope("neighbour");
      flip(s, int(below(random_words(neighbours_, s.index)[0], s.order())), flipped_);
      flipped_.mis_weight = mis_weight(flipped_);
    }
    measure(flipped_);
  }
}

void accumulator::measure(const sample& s) {
  result_.sums[weight_] += s.weight();
  {
    trace::region scope("measure M");
    single_particle_.accumulate(s);
  }
  {
    trace::region scope("measure correlations");
    green_.evaluate(s, random_words(times_, s.index));
    for (const entry& e : correlations_) e.measurement->accumulate(green_, s.weight());
  }
  if (!two_frequency_) return;
  {
    trace::region scope("transform M");
    two_frequency_->evaluate(s, 0, up_);
    two_frequency_->evaluate(s, 1, down_);
  }
  if (sink_) return sink_->accumulate(s.weight(), up_, down_);
  trace::region scope("measure G4");
  two_particle_->accumulate(s.weight(), up_, down_, two_particle_->measure_direct(up_, down_));
}

std::span<double> accumulator::sums_of(const bin_array& array) {
  return std::span(result_.sums).subspan(array.offset, array.size());
}

void accumulator::flush() {
  single_particle_.flush(sums_of(array_named(layout_, "single_particle")));
  for (const entry& e : correlations_) e.measurement->flush(sums_of(e.array));
}

bin_result accumulator::end_bin() {
  flush();
  if (two_particle_) {
    const auto functions = two_particle_->end_bin();
    std::ranges::copy(functions, std::span(result_.sums).last(functions.size()).begin());
  }
  if (sink_) sink_->end_bin();
  check_finite(result_, chain_);
  return std::move(result_);
}

}  // namespace plaq::dca
