// Sums in one order, for vectors of any width.
#pragma once
#include <array>

namespace plaq::linalg {

/// Returns sum_i term(i), 0 <= i < n, in double. `Lanes` partial sums over terms at distance `Lanes`, as far as there
/// are whole rows of them, are added to the sum of the rest, the first lane first. `Lanes` is at least that of the
/// widest vectors.
template <int Lanes, class Term>
double sum_in_lanes(int n, Term&& term) {
  std::array<decltype(term(0)), Lanes> lane{};
  int i = 0;
  for (; i + Lanes <= n; i += Lanes)
    for (int l = 0; l < Lanes; ++l) lane[l] += term(i + l);
  double total = 0;
  for (; i < n; ++i) total += double(term(i));
  for (const auto part : lane) total += double(part);
  return total;
}

}  // namespace plaq::linalg
