#include "plaq/dca/measure/two_particle_sums.hpp"

#include <utility>

#include "plaq/trace/region.hpp"

namespace plaq::dca {

two_particle_sums::two_particle_sums(const measurement_list& measured, const two_frequency& functions, portion share)
    : layout_(share_of(two_particle_layout(functions.sites(), measured), share)), sites_(functions.sites()) {
  if (measured.pairing) pairing_ = std::make_unique<pairing>(functions, measured.orbit, measured.window, share);
  for (const channel_request& c : measured.channels)
    channels_.emplace_back(functions, c.kind, c.transfer, c.bosonic, measured.window, share);
  std::size_t direct = 0;
  for (const vertex_channel& c : channels_) direct += c.direct_size();
  direct_.resize(direct);
}

std::span<const float> two_particle_sums::measure_direct(const two_frequency::view& up,
                                                         const two_frequency::view& down) {
  auto rest = std::span(direct_);
  for (const vertex_channel& c : channels_) {
    c.measure_direct(up, down, rest.first(c.direct_size()));
    rest = rest.subspan(c.direct_size());
  }
  return direct_;
}

needed_rows two_particle_sums::needed() const {
  needed_rows rows(sites_);
  if (pairing_) pairing_->add_needed(rows);
  for (const vertex_channel& c : channels_) c.add_needed(rows);
  return rows;
}

void two_particle_sums::begin_bin() {
  flush();  // discards an abandoned bin
  sums_.assign(total_size(layout_), 0.);
}

void two_particle_sums::accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                                   std::span<const float> direct) {
  if (pairing_) pairing_->accumulate(weight, up, down);
  for (vertex_channel& c : channels_) {
    c.accumulate(weight, up, down, direct.first(c.direct_size()));
    direct = direct.subspan(c.direct_size());
  }
  if (++since_flush_ == configurations_per_flush) flush();
}

void two_particle_sums::flush() {
  if (since_flush_ == 0) return;
  trace::region scope("flush G4");
  auto next = layout_.begin();
  const auto target = [&] {
    const bin_array& a = *next++;
    return std::span<double>(sums_).subspan(a.offset, a.size());
  };
  if (pairing_) pairing_->flush(target());
  for (vertex_channel& c : channels_) c.flush(target());
  since_flush_ = 0;
}

std::vector<double> two_particle_sums::end_bin() {
  flush();
  return std::move(sums_);
}

}  // namespace plaq::dca
