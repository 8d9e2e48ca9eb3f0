// Particles of a patch by cell, and their random order.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/pic/particles/particles.hpp"

namespace plaq::pic {

/// Numbers of particles by cell, and for each cell the index of its first one.
struct cell_lists {
  std::vector<std::uint32_t> first, numbers;
  std::vector<std::uint32_t> in_cell(std::size_t cell) const {
    return {numbers.begin() + first[cell], numbers.begin() + first[cell + 1]};
  }
};
/// Returns j of the cell with this index in a patch grid.
inline int row_of(const patch_grid& m, std::size_t cell) {
  return int(cell / std::size_t(m.extent(0)) % std::size_t(m.extent(1))) - m.guard[1];
}

/// Lists the particles of a patch by cell.
template <class T>
cell_lists list_by_cell(const patch_grid& m, const particles<T>& all) {
  cell_lists out;
  out.first.assign(m.size() + 1, 0), out.numbers.resize(all.size());
  std::vector<std::uint32_t> cell(all.size(), std::uint32_t(m.origin()));
  for (int d = 0; d < m.dimensions; ++d)
    for (std::size_t i = 0; i < all.size(); ++i) cell[i] += std::uint32_t(all.cell[d][i] * m.stride[d]);
  for (const auto c : cell) ++out.first[c + 1];
  for (std::size_t c = 0; c < m.size(); ++c) out.first[c + 1] += out.first[c];
  auto next = out.first;
  for (std::size_t i = 0; i < all.size(); ++i) out.numbers[next[cell[i]]++] = std::uint32_t(i);
  return out;
}

/// Shuffles a list (Fisher, Yates, 1938), by the stream's words from `from` on.
inline void shuffle(std::span<std::uint32_t> list, const stream_id& stream, std::uint64_t from) {
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = list.size(), used = 0; i > 1; --i, ++used) {
    if (used % 4 == 0) words = random_words(stream, from + used / 4);
    std::swap(list[i - 1], list[below(words[used % 4], i)]);
  }
}

constexpr std::uint64_t words_per_use = std::uint64_t(1) << 40;  ///< of a cell's stream: two shuffles, then the pairs

}  // namespace plaq::pic
