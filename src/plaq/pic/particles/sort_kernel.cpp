// Sort of particles by cell. Most are in order from the step before: neighbours in memory that belong to one cell are
// moved together, and only particles that have left their cell are moved one by one.
#include <algorithm>
#include <numeric>

#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/registers.hpp"

namespace plaq::pic {

namespace {

/// Calls group(i, mask, key) for the particles of the mask from the i-th on, mask have one key, and single(i) for
/// others, so that particles with one key come in their order.
template <int N, class Group, class Single>
PLAQ_KERNEL void for_each_key(const std::uint32_t* keys, std::size_t n, Group group, Single single) {
  using K = linalg::simd<std::uint32_t, N>;
  std::uint32_t current_key = 0;
  std::size_t i = 0;
  for (; i + N <= n; i += N) {
    const K all = linalg::load<K>(keys + i);
    lane_mask same = mask_of(all == current_key), rest = low_lanes(N) & ~same;
    if (same) group(i, same, current_key);
    if (std::popcount(rest) > N / 4) {  // another cell has begun
      current_key = keys[i + N - 1];
      same = mask_of(all == current_key) & rest;
      if (same) group(i, same, current_key);
      rest &= ~same;
    }
    for (; rest; rest &= rest - 1) single(i + std::size_t(std::countr_zero(rest)));
  }
  for (; i < n; ++i) single(i);
}

}  // namespace

template <class T>
void sort_by_cell(const patch_grid& m, particles<T>& p) {
  // Memory of the thread, swapped with that of the particles: nothing is allocated once it is large enough.
  struct workspace {
    std::vector<std::uint32_t> keys, first;
    particles<T> sorted;
  };
  static thread_local workspace of_thread;
  auto& [keys, first, sorted] = of_thread;
  constexpr int N = linalg::native_lanes<T>;
  using V = linalg::simd<T, N>;
  const std::size_t n = p.size();
  const auto size = std::size_t(m.cells[0]) * std::size_t(m.cells[1]) * std::size_t(m.cells[2]);
  // In one dimension cells are keys; no cell is negative.
  const auto* key = reinterpret_cast<const std::uint32_t*>(p.cell[0].data());
  if (m.dimensions > 1) {
    const std::array<std::uint32_t, 3> step{1, std::uint32_t(m.cells[0]), std::uint32_t(m.cells[0] * m.cells[1])};
    keys.assign(key, key + n);
    for (std::size_t d = 1; d < std::size_t(m.dimensions); ++d)
      for (std::size_t i = 0; i < n; ++i) keys[i] += std::uint32_t(p.cell[d][i]) * step[d];
    key = keys.data();
  }

  first.assign(size + 1, 0);
  std::uint32_t* count = first.data() + 1;
  for_each_key<N>(
      key, n, [&](std::size_t, lane_mask mask, std::uint32_t k) { count[k] += std::uint32_t(std::popcount(mask)); },
      [&](std::size_t i) { ++count[key[i]]; });
  std::partial_sum(first.begin(), first.end(), first.begin());

  const bool tracked = !p.id.empty();
  if (!tracked) sorted.id.clear();  // of another species
  if (p.azimuth[0].empty()) sorted.azimuth = {};
  std::array<std::pair<const T*, T*>, 8> arrays;
  std::size_t used = 0;
  sorted.for_each_array(p, m.dimensions, [&](auto& out, auto& in) {
    out.resize(n);
    if constexpr (std::is_same_v<decltype(out.data()), T*>) arrays[used++] = {in.data(), out.data()};
  });
  const auto move = [&]<std::size_t Used>(std::integral_constant<std::size_t, Used>) {
    for_each_key<N>(
        key, n,
        [&](std::size_t i, lane_mask mask, std::uint32_t k) {
          const std::uint32_t to = first[k];
          first[k] += std::uint32_t(std::popcount(mask));
          if (mask == low_lanes(N))
            for (std::size_t a = 0; a < Used; ++a)
              linalg::store(arrays[a].second + to, linalg::load<V>(arrays[a].first + i));
          else
            for (std::size_t a = 0; a < Used; ++a)
              store_packed(arrays[a].second + to, load_masked<V>(arrays[a].first + i, mask), mask);
          if (tracked)
            for (std::uint64_t* id = sorted.id.data() + to; mask; mask &= mask - 1)
              *id++ = p.id[i + std::size_t(std::countr_zero(mask))];
        },
        [&](std::size_t i) {
          const std::uint32_t to = first[key[i]]++;
          for (std::size_t a = 0; a < Used; ++a) arrays[a].second[to] = arrays[a].first[i];
          if (tracked) sorted.id[to] = p.id[i];
        });
  };
  switch (used) {
    case 5: move(std::integral_constant<std::size_t, 5>()); break;
    case 6: move(std::integral_constant<std::size_t, 6>()); break;
    case 7: move(std::integral_constant<std::size_t, 7>()); break;
    default: move(std::integral_constant<std::size_t, 8>());
  }
  std::size_t begin = 0, k = 0;
  point cell;
  for (cell[2] = 0; cell[2] < m.cells[2]; ++cell[2])
    for (cell[1] = 0; cell[1] < m.cells[1]; ++cell[1])
      for (cell[0] = 0; cell[0] < m.cells[0]; ++cell[0], ++k) {
        const std::size_t end = first[k];  // where the next cell begins
        for (std::size_t d = 0; d < std::size_t(m.dimensions); ++d)
          std::fill(sorted.cell[d].begin() + std::ptrdiff_t(begin), sorted.cell[d].begin() + std::ptrdiff_t(end),
                    cell[d]);
        begin = end;
      }
  // Large memory is not swapped into patches with few particles.
  const std::size_t most = 4 * n + 64;  // arrays that grow double
  if (sorted.w.capacity() <= most) {
    std::swap(p, sorted);
    if (!tracked) std::swap(p.id, sorted.id);  // the capacity stays with the thread
    return;
  }
  p.for_each_array(sorted, m.dimensions, [most]<class Array>(Array& to, const Array& from) {
    if (to.capacity() > most)
      Array(from).swap(to);
    else
      std::ranges::copy(from, to.begin());
  });
}

template void sort_by_cell(const patch_grid&, particles<float>&);
template void sort_by_cell(const patch_grid&, particles<double>&);

}  // namespace plaq::pic
