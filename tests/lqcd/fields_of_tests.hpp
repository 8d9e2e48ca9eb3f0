// Layouts and random fields of tests, and comparisons of fields.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <vector>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/reference/reference.hpp"

namespace plaq::lqcd {

/// Lanes that the kernels of this program are compiled for: 1, 2, 4, ...
template <class T>
std::vector<int> lane_counts() {
  std::vector<int> list;
  for (int n = 1; n <= max_lanes<T>(); n *= 2) list.push_back(n);
  return list;
}

/// Layout of one rank.
inline std::shared_ptr<const site_layout> layout_of(const coordinates& box, int lanes) {
  return std::make_shared<site_layout>(lattice(box), lanes);
}

template <class T = double>
links<T> random_links_on(const std::shared_ptr<const site_layout>& layout, std::uint64_t seed = 3) {
  links<T> u(layout);
  hot_start(u, seed);
  return u;
}

template <class T = double>
spinors<T> random_spinors_on(const std::shared_ptr<const site_layout>& layout, std::uint32_t number = 0,
                             sites subset = sites::all) {
  spinors<T> psi(layout, subset);
  gaussian(psi, 5, number);
  return psi;
}

/// Largest difference between a field of one rank and numbers [site][component].
template <class Field>
double difference_from(const Field& f, const std::vector<reference::number>& expected) {
  const auto actual = reference::whole(f);
  double largest = 0;
  for_each_site(f.layout(), [&](const coordinates& x, site_layout::location) {
    if (!f.has(parity(x))) return;
    const auto at = std::size_t(index_in(x, f.layout().lattice().extents) * (Field::reals / 2));
    for (std::size_t i = at; i < at + Field::reals / 2; ++i)
      largest = std::fmax(largest, std::abs(actual[i] - expected[i]));
  });
  return largest;
}

template <class Field>
bool same_bits(const Field& a, const Field& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

}  // namespace plaq::lqcd
