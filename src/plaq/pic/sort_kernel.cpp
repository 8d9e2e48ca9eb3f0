// Particles by cell. Most are in order from the step before: so neighbours in memory that go to one cell go there
// together, and only what has left its cell goes by itself.
#include <algorithm>
#include <numeric>

#include "plaq/pic/kernels.hpp"
#include "plaq/pic/registers.hpp"

namespace plaq::pic {

namespace {

/// Calls together(i, bits, key) for particles from the i-th on with one key, those with a bit, and alone(i) for
/// others, so that particles with one key come in their order.
template <int N, class Together, class Alone>
PLAQ_KERNEL void by_key(const std::vector<std::uint32_t>& keys, std::size_t n, Together together, Alone alone) {
  using K = linalg::simd<std::uint32_t, N>;
  std::uint32_t home = 0;
  std::size_t i = 0;
  for (; i + N <= n; i += N) {
    const K all = linalg::load<K>(keys.data() + i);
    lane_bits here = bits(all == home), rest = first_bits(N) & ~here;
    if (here) together(i, here, home);
    if (std::popcount(rest) > N / 4) {  // another cell has begun
      home = keys[i + N - 1];
      here = bits(all == home) & rest;
      if (here) together(i, here, home);
      rest &= ~here;
    }
    for (; rest; rest &= rest - 1) alone(i + std::size_t(std::countr_zero(rest)));
  }
  for (; i < n; ++i) alone(i);
}

}  // namespace

template <class T>
void sort_by_cell(const block& m, particles<T>& p) {
  // Memory of a thread, which changes places with that of the particles: none is asked for once it is large enough.
  struct room {
    std::vector<std::uint32_t> key, first;
    particles<T> sorted;
  };
  static thread_local room of_thread;
  auto& [key, first, sorted] = of_thread;
  constexpr int N = linalg::native_lanes<T>;
  using V = linalg::simd<T, N>;
  const std::size_t n = p.size();
  key.resize(n);
  const auto size = std::size_t(m.cells[0]) * std::size_t(m.cells[1]) * std::size_t(m.cells[2]);
  const std::array<std::uint32_t, 3> step{1, std::uint32_t(m.cells[0]), std::uint32_t(m.cells[0] * m.cells[1])};
  std::copy_n(p.cell[0].data(), n, key.data());
  for (std::size_t d = 1; d < std::size_t(m.dimensions); ++d)
    for (std::size_t i = 0; i < n; ++i) key[i] += std::uint32_t(p.cell[d][i]) * step[d];

  first.assign(size + 1, 0);
  std::uint32_t* count = first.data() + 1;
  by_key<N>(
      key, n, [&](std::size_t, lane_bits which, std::uint32_t k) { count[k] += std::uint32_t(std::popcount(which)); },
      [&](std::size_t i) { ++count[key[i]]; });
  std::partial_sum(first.begin(), first.end(), first.begin());

  const bool tracked = !p.id.empty();
  if (!tracked) sorted.id.clear();  // those of another species
  std::array<std::pair<const T*, T*>, 7> arrays;
  std::size_t used = 0;
  sorted.each_array(p, m.dimensions, [&](auto& out, auto& in) {
    out.resize(n);
    if constexpr (std::is_same_v<decltype(out.data()), T*>) arrays[used++] = {in.data(), out.data()};
  });
  const auto move = [&]<std::size_t Used>(std::integral_constant<std::size_t, Used>) {
    by_key<N>(
        key, n,
        [&](std::size_t i, lane_bits which, std::uint32_t k) {
          const std::uint32_t to = first[k];
          first[k] += std::uint32_t(std::popcount(which));
          for (std::size_t a = 0; a < Used; ++a)
            store_packed(arrays[a].second + to, load_some<V>(arrays[a].first + i, which), which);
          if (tracked)
            for (std::uint64_t* id = sorted.id.data() + to; which; which &= which - 1)
              *id++ = p.id[i + std::size_t(std::countr_zero(which))];
        },
        [&](std::size_t i) {
          const std::uint32_t to = first[key[i]]++;
          for (std::size_t a = 0; a < Used; ++a) arrays[a].second[to] = arrays[a].first[i];
          if (tracked) sorted.id[to] = p.id[i];
        });
  };
  switch (m.dimensions) {
    case 1: move(std::integral_constant<std::size_t, 5>()); break;
    case 2: move(std::integral_constant<std::size_t, 6>()); break;
    default: move(std::integral_constant<std::size_t, 7>());
  }
  std::size_t begin = 0, k = 0;
  point cell;
  for (cell[2] = 0; cell[2] < m.cells[2]; ++cell[2])
    for (cell[1] = 0; cell[1] < m.cells[1]; ++cell[1])
      for (cell[0] = 0; cell[0] < m.cells[0]; ++cell[0], ++k) {
        const std::size_t end = first[k];  // where the next one began
        for (std::size_t d = 0; d < std::size_t(m.dimensions); ++d)
          std::fill(sorted.cell[d].begin() + std::ptrdiff_t(begin), sorted.cell[d].begin() + std::ptrdiff_t(end),
                    cell[d]);
        begin = end;
      }
  // Memory that was made for a crowd does not wander through patches that have few.
  const std::size_t most = 4 * n + 64;  // arrays that grow double
  if (sorted.w.capacity() <= most) {
    std::swap(p, sorted);
    if (!tracked) std::swap(p.id, sorted.id);  // the room stays here
    return;
  }
  p.each_array(sorted, m.dimensions, [most]<class Array>(Array& to, const Array& from) {
    if (to.capacity() > most)
      Array(from).swap(to);
    else
      std::ranges::copy(from, to.begin());
  });
}

template void sort_by_cell(const block&, particles<float>&);
template void sort_by_cell(const block&, particles<double>&);

}  // namespace plaq::pic
