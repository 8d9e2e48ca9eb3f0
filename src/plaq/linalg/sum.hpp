// Sums in one order, however wide the vectors of the processor are.
#pragma once
#include <array>

namespace plaq::linalg {

/// sum_i term(i), 0 <= i < n, in double: `Lanes` sums of the terms that are so many apart, as far as there are whole
/// rows of them, are added to that of the rest, the first lane first. Lanes are those of the widest vectors or more.
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
