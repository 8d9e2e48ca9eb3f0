#include "plaq/dca/ctint/green_at_times.hpp"

#include <algorithm>
#include <numeric>

#include "plaq/base/random.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca::ctint {

green_at_times::green_at_times(const interacting_cluster& cluster)
    : cluster_(cluster),
      flavours_(cluster.flavours()),
      every_flavour_(std::size_t(cluster.flavours())),
      at_one_time_(every_flavour_.size()),
      g_(std::size_t(cluster.blocks())),
      turned_(g_.size()),
      occupation_(g_.size()) {
  std::iota(every_flavour_.begin(), every_flavour_.end(), 0);
}

void green_at_times::evaluate(const sample& s, const std::array<std::uint64_t, times>& words) {
  for (int a = 0; a < times; ++a) t_[std::size_t(a)] = cluster_.beta * unit_interval(words[std::size_t(a)]);
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
      const auto &create = vertices.create, &annihilate = vertices.annihilate;
      for (int a = 0; a < times; ++a)
        for (int x = 0; x < flavours_; ++x) {
          const double at = t_[std::size_t(a)];
          const int point = a * flavours_ + x;
          g0.from_points(k, create.flavour.data(), create.tau.data(), x, at, from_.column(point));
          g0.to_points(k, annihilate.flavour.data(), annihilate.tau.data(), x, at, to_.column(point));
        }
      const auto& m = vertices.m;
      linalg::gemm<float>(false, false, k, points, k, 1, m.data(), m.stride(), to_.data(), to_.stride(), 0,
                          half_.data(), half_.stride());
      linalg::gemm<float>(true, false, points, points, k, 1, from_.data(), from_.stride(), half_.data(), half_.stride(),
                          0, change_.data(), change_.stride());
    } else {
      for (int column = 0; column < points; ++column) std::fill_n(change_.column(column), points, 0.f);
    }
    add_bath(block);
  }
}

/// Sets g of a block to that of the bath and the change. A difference of flavours is evaluated once for two times.
void green_at_times::add_bath(int block) {
  const g0_table& g0 = cluster_.bath(block);
  const std::size_t points = std::size_t(times * flavours_), flavours = std::size_t(flavours_);
  const auto& difference = g0.difference();
  if (block == 0 || &g0 != &cluster_.bath(block - 1)) {
    bath_.resize(points * points);
    one_pair_.resize(std::size_t(cluster_.cells * cluster_.orbitals * cluster_.orbitals));
    std::vector<double> equal(flavours);
    for (std::size_t a = 0; a < times; ++a)
      for (std::size_t b = 0; b < times; ++b) {
        std::ranges::fill(equal, t_[a]);
        for (int y = 0; y < cluster_.orbitals; ++y) {
          g0.to_points(flavours_, every_flavour_.data(), equal.data(), y, t_[b], at_one_time_.data());
          for (std::size_t x = 0; x < flavours; ++x)
            one_pair_[std::size_t(difference[x * flavours + std::size_t(y)])] = at_one_time_[x];
        }
        for (std::size_t x = 0; x < flavours; ++x)
          for (std::size_t y = 0; y < flavours; ++y)
            bath_[(a * flavours + x) * points + b * flavours + y] =
                one_pair_[std::size_t(difference[x * flavours + y])];
      }
  }
  auto &g = g_[std::size_t(block)], &turned = turned_[std::size_t(block)],
       &occupation = occupation_[std::size_t(block)];
  g.resize(points * points);
  turned.resize(points * points);
  occupation.resize(points);
  for (std::size_t column = 0; column < points; ++column) {
    const float* change = change_.column(int(column));
    for (std::size_t row = 0; row < points; ++row) {
      const double value = bath_[row * points + column] + double(change[row]);
      g[row * points + column] = turned[column * points + row] = value;
    }
    occupation[column] = 1 - turned[column * points + column];
  }
}

void green_at_times::add_density_products(int block, int x, int a, int other, int b, double* sum) const {
  const std::size_t points = std::size_t(times * flavours_), row = std::size_t(a * flavours_ + x);
  const std::size_t first = std::size_t(b * flavours_);
  const double here = occupation_[std::size_t(block)][row];
  const double* there = occupation_[std::size_t(other)].data() + first;
  if (block != other) {
    for (int y = 0; y < flavours_; ++y) sum[y] += here * there[y];
    return;
  }
  const double* forth = g_[std::size_t(block)].data() + row * points + first;
  const double* back = turned_[std::size_t(block)].data() + row * points + first;
  for (int y = 0; y < flavours_; ++y) sum[y] += here * there[y] - back[y] * forth[y];
  if (a == b) sum[x] += forth[x];
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
