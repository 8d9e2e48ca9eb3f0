#include "plaq/dca/measure/single_particle.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/phase_sums.hpp"

namespace plaq::dca {

single_particle::single_particle(double beta, int sites, std::vector<int> odd, std::vector<int> difference)
    : beta_(beta),
      sites_(sites),
      odd_(std::move(odd)),
      difference_(std::move(difference)),
      sum_(std::size_t(2) * sites * odd_.size()) {
  check(difference_.size() == std::size_t(sites) * sites, "single_particle: differences must be sites x sites");
  for (int n : odd_) check(n > 0 && n % 2 == 1, "single_particle: frequencies are positive odd numbers");
}

void single_particle::accumulate(const sample& s) {
  const int k = s.order();
  if (k == 0) return;
  compute_phases(s.tau, beta_, odd_, phase_);
  transformed_.reshape(k, phase_.columns());
  const phased_operators vertices{s.first, phase_};
  for (int x2 = 0; x2 < sites_; ++x2) {
    if (s.first[x2] == s.first[x2 + 1]) continue;
    for (const auto& m : s.m)
      add_phased_columns(sites_, x2, vertices, vertices, m, 0.5 * s.weight(), difference_, transformed_, sum_);
  }
}

void single_particle::flush(std::span<double> out) {
  check(out.size() == size(), "single_particle: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.size(); ++i) out[i] += sum_[i];
  std::fill(sum_.begin(), sum_.end(), 0.);
}

}  // namespace plaq::dca
