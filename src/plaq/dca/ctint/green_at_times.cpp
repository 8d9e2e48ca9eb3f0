#include "plaq/dca/ctint/green_at_times.hpp"

#include "plaq/base/random.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca::ctint {

green_at_times::green_at_times(const interacting_cluster& cluster)
    : cluster_(cluster), flavours_(cluster.flavours()), g_(std::size_t(cluster.blocks())) {}

void green_at_times::evaluate(const sample& s, const std::array<std::uint64_t, times>& words) {
  std::array<double, times> t;
  for (int a = 0; a < times; ++a) t[std::size_t(a)] = cluster_.beta * unit_interval(words[std::size_t(a)]);
  const int points = times * flavours_;
  change_.reshape(points, points);
  for (int block = 0; block < cluster_.blocks(); ++block) {
    const block_sample& vertices = s.blocks[std::size_t(block)];
    const g0_table& g0 = cluster_.bath(block);
    const int k = vertices.size();
    if (k > 0) {
      from_.reshape(k, points);
      to_.reshape(k, points);
      half_.reshape(k, points);
      for (int a = 0; a < times; ++a)
        for (int x = 0; x < flavours_; ++x) {
          const double at = t[std::size_t(a)];
          float* from = from_.column(a * flavours_ + x);
          float* to = to_.column(a * flavours_ + x);
          for (int p = 0; p < k; ++p)
            from[p] = float(g0(x, at, vertices.create.flavour[std::size_t(p)], vertices.create.tau[std::size_t(p)]));
          for (int q = 0; q < k; ++q)
            to[q] =
                float(g0(vertices.annihilate.flavour[std::size_t(q)], vertices.annihilate.tau[std::size_t(q)], x, at));
        }
      const auto& m = vertices.m;
      linalg::gemm<float>(false, false, k, points, k, 1, m.data(), m.stride(), to_.data(), to_.stride(), 0,
                          half_.data(), half_.stride());
      linalg::gemm<float>(true, false, points, points, k, 1, from_.data(), from_.stride(), half_.data(), half_.stride(),
                          0, change_.data(), change_.stride());
    }
    auto& g = g_[std::size_t(block)];
    g.resize(std::size_t(points) * std::size_t(points));
    for (int row = 0; row < points; ++row)
      for (int column = 0; column < points; ++column)
        g[std::size_t(row * points + column)] = g0(row % flavours_, t[std::size_t(row / flavours_)], column % flavours_,
                                                   t[std::size_t(column / flavours_)]) +
                                                (k > 0 ? double(change_(row, column)) : 0.);
  }
}

double green_at_times::vertex_product(const vertex_type& type, int cell, int a) const {
  const auto& [left, right] = type.legs;
  const std::size_t at = std::size_t(cell);
  const double apart = bilinear(left.block, left.create[at], left.annihilate[at], a) *
                       bilinear(right.block, right.create[at], right.annihilate[at], a);
  if (left.block != right.block) return apart;
  return apart + bilinear(left.block, left.create[at], right.annihilate[at], a) *
                     (*this)(left.block, left.annihilate[at], a, right.create[at], a);
}

}  // namespace plaq::dca::ctint
