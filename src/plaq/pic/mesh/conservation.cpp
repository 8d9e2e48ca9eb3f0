#include "plaq/pic/mesh/conservation.hpp"

#include <array>
#include <cmath>
#include <sstream>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/record.hpp"

namespace plaq::pic {

namespace {

/// Returns number and weight of the particles of a species that became others in a step: attached to atoms, ionised by
/// the field, in reactions, or by merging and splitting.
std::array<double, 2> transformed(const plan& p, const double* row, std::size_t s) {
  std::array<double, 2> out{};
  for (std::size_t n = 0; n < p.scatterings.size(); ++n)
    for (std::size_t k = 0; k < p.scatterings[n].processes.size(); ++k)
      if (p.scatterings[n].projectiles == int(s) && p.scatterings[n].processes[k].kind == gas_process_kind::attachment)
        for (std::size_t i = 0; i < 2; ++i) out[i] += row[record::process(p, n, k) + i];
  for (std::size_t n = 0; n < p.field_ionisations.size(); ++n)
    if (p.field_ionisations[n].ionised == int(s))
      for (std::size_t i = 0; i < 2; ++i) out[i] += row[record::ionised(p, n) + i];
  for (std::size_t n = 0; n < p.reactions.size(); ++n)
    for (std::size_t k = 0; k < 2; ++k)
      if (int(s) == (k ? p.reactions[n].second : p.reactions[n].first)) {
        const double* of = row + record::reaction(p, n);
        out[0] += of[2 + k], out[1] += of[1];
      }
  for (std::size_t n = 0; n < p.resamplings.size(); ++n)
    if (p.resamplings[n].species == int(s)) {
      const double* of = row + record::resampled(p, n);
      out[0] += p.resamplings[n].splits ? -of[0] : of[0], out[1] += of[1];
    }
  return out;
}

}  // namespace

void particle_counts::assign(const std::vector<double>& counts) {
  const auto half = counts.begin() + std::ptrdiff_t(counts.size() / 2);
  numbers_.assign(counts.begin(), half), weights_.assign(half, counts.end());
}

void particle_counts::follow(const plan& p, std::int64_t step, const std::vector<double>& rows) {
  const std::size_t length = record::length(p);
  for (std::size_t row = 0; row * length < rows.size(); ++row)
    for (std::size_t s = 0; s < p.species_list.size(); ++s) {
      const double* columns = rows.data() + row * length + record::at(s, 0);
      double left = 0, left_weight = 0;
      for (std::size_t side = 0; side < 6; ++side)
        left += columns[record::left + side], left_weight += columns[record::left_weight + side];
      const auto others = transformed(p, rows.data() + row * length, s);
      const double weight = columns[record::weight],
                   expected = numbers_[s] - left + columns[record::emitted] - columns[record::absorbed] - others[0],
                   expected_weight = weights_[s] - left_weight + columns[record::emitted_weight] -
                                     columns[record::absorbed_weight] - others[1];
      const double size = std::abs(weights_[s]) + std::abs(columns[record::emitted_weight]);
      const bool charge_kept = std::abs(weight - expected_weight) <= 1e-9 * size;
      if (columns[record::number] != expected || !charge_kept) {
        std::ostringstream text;
        text << "step " << step + std::int64_t(row) + 1 << ": of species \"" << p.species_list[s].name
             << "\" there are " << columns[record::number] << " particles of weight " << weight
             << ", and there should be " << expected << " of " << expected_weight;
        throw runtime_failure(text.str());
      }
      numbers_[s] = expected;
      weights_[s] = weight;
    }
}

}  // namespace plaq::pic
