#include "plaq/pic/processes/field_ionisation.hpp"

#include <cmath>

#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/particles/kernels.hpp"

namespace plaq::pic {

double field_ionisation::rate(double field) const {
  const double f = std::abs(field) / atomic_field;
  if (!(f > 0)) return 0;
  const double root = std::sqrt(2 * energy), n = charge_state / root, strength = 2 * root * root * root / f;
  // |C|^2 = 2^(2n) / (n Gamma(2n)) with l* = n - 1; by logarithms, since f may be small.
  const double log_rate = 2 * n * std::log(2.0) - std::log(n) - std::lgamma(2 * n) + std::log((2 * l + 1) * energy) +
                          (2 * n - 1) * std::log(strength) - strength / 3;
  return std::exp(log_rate) / atomic_time;
}

namespace {

/// Removes particles; the others stay in order.
template <class T>
void keep_others(particles<T>& all, const std::vector<std::size_t>& removed, int dimensions) {
  all.for_each_array(all, dimensions, [&](auto& values, auto&) {
    std::size_t to = 0, next = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (next < removed.size() && removed[next] == i)
        ++next;
      else
        values[to++] = values[i];
    }
    values.resize(to);
  });
}

}  // namespace

template <class T>
void ionise_by_field(const plan& p, patch<T>& self) {
  const int dims = p.dimensions;
  std::vector<particles<T>> made(self.species.size());
  for (std::size_t k = 0; k < p.field_ionisations.size(); ++k) {
    const field_ionisation& by = p.field_ionisations[k];
    const auto s = std::size_t(by.ionised), ions = std::size_t(by.ions), electrons = std::size_t(by.electrons);
    particles<T>& all = self.species[s];
    const std::vector<double> field = electric_field_at(self.mesh, p.order, p.at_nodes, self.f, all);
    std::vector<std::size_t> ionised;
    std::ptrdiff_t cell_before = -1;
    std::uint64_t number = 0;  // in the cell
    stream_id stream;
    for (std::size_t i = 0; i < all.size(); ++i) {
      point cell{};
      for (int d = 0; d < dims; ++d) cell[d] = all.cell[d][i];
      if (const auto at = self.mesh.index(cell); at != cell_before) {
        cell_before = at, number = 0;
        stream = stream_of(p.seed, random_purpose::field_ionisation, std::uint32_t(k),
                           std::uint64_t(self.number) << 32 | std::uint64_t(at), std::uint64_t(self.step));
      }
      const double chance = unit_interval(random_words(stream, number++)[0]);
      if (chance < -std::expm1(-by.rate(field[i]) * p.dt)) ionised.push_back(i);
    }
    for (const auto i : ionised)
      for (const auto to : {ions, electrons}) {
        particles<T> one;
        one.append(all, i, dims);
        one.id.clear();
        if (p.species_list[to].tracked) one.id.push_back(self.new_id(p));
        made[to].append(one, dims);
        self.next_row[record::at(to, record::emitted)] += 1;
        self.next_row[record::at(to, record::emitted_weight)] += double(one.w[0]);
      }
    double* counted = self.row.data() + record::ionised(p, k);
    for (const auto i : ionised) counted[0] += 1, counted[1] += double(all.w[i]);
    keep_others(all, ionised, dims);
  }
  for (std::size_t s = 0; s < made.size(); ++s) self.species[s].append(made[s], dims);
}

template void ionise_by_field(const plan&, patch<float>&);
template void ionise_by_field(const plan&, patch<double>&);

}  // namespace plaq::pic
