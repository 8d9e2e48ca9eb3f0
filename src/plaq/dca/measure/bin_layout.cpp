#include "plaq/dca/measure/bin_layout.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::dca {

namespace {

/// Appends an array at the end of the layout.
void add(bin_layout& layout, std::string name, std::vector<axis> axes, bool complex = false) {
  layout.push_back({std::move(name), std::move(axes), complex, total_size(layout)});
}

}  // namespace

std::size_t bin_array::size() const {
  std::size_t numbers = complex ? 2 : 1;
  for (const axis& a : axes) numbers *= a.size;
  return numbers;
}

std::size_t bin_array::rows() const {
  std::size_t count = 1;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) count *= axes[i].size;
  return count;
}

std::size_t total_size(const bin_layout& layout) {
  return layout.empty() ? 0 : layout.back().offset + layout.back().size();
}

const bin_array& array_named(const bin_layout& layout, std::string_view name) {
  const auto at = std::ranges::find(layout, name, &bin_array::name);
  if (at == layout.end()) throw runtime_failure("a bin has no array '" + std::string(name) + "'");
  return *at;
}

bin_layout layout_of(int sites, const measurement_list& measured) {
  const axis R{"R", std::size_t(sites)};
  bin_layout out;
  for (const char* name : {"sign", "order", "weight"}) add(out, name, {});
  add(out, "single_particle", {R, {"w", measured.odd_frequencies.size()}}, true);
  for (const char* name : {"density", "double_occupancy"}) add(out, name, {});
  for (const char* name : {"spin", "charge", "static_spin", "static_charge", "equal_time"}) add(out, name, {R});
  add(out, "histogram", {{"k", std::size_t(measured.histogram_size)}});
  for (bin_array& function : two_particle_layout(sites, measured))
    add(out, std::move(function.name), std::move(function.axes), function.complex);
  return out;
}

bin_layout two_particle_layout(int sites, int window, int orbits, int channels) {
  const std::size_t n = std::size_t(sites), w = std::size_t(window);
  bin_layout out;
  if (orbits > 0) add(out, "pairing", {{"orbit", std::size_t(orbits)}, {"n", w}, {"n'", 2 * w}});
  for (int i = 0; i < channels; ++i)
    add(out, "channel_" + std::to_string(i), {{"K", n}, {"K'", n}, {"n", 2 * w}, {"n'", 2 * w}}, true);
  return out;
}

bin_layout two_particle_layout(int sites, const measurement_list& measured) {
  const int orbits = measured.pairing ? 1 + *std::ranges::max_element(measured.orbit) : 0;
  return two_particle_layout(sites, measured.window, orbits, int(measured.channels.size()));
}

bin_layout share_of(const bin_layout& layout, portion share) {
  bin_layout out;
  for (const bin_array& whole : layout) {
    const std::size_t rows = share.end(whole.rows()) - share.begin(whole.rows());
    add(out, whole.name, {{"row", rows}, whole.axes.back()}, whole.complex);
  }
  return out;
}

}  // namespace plaq::dca
