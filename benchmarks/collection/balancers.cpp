// All balancers on one load: a plume of particles beside the left side of a square mesh, 16 elements for each
// rank, placed along the Hilbert curve. Imbalance I = max/mean - 1 before and after, the floor that the largest
// element sets, how many elements move, how much of the edges is cut, and the processor time of the balancer
// itself.
//   bench_balancers [RANKS...] [FILE]
// The loads go to the file, for the program in charm/: a line for each element with its load and its rank.
#include "plaq/collection/balance/balancers.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

#include "plaq/collection/hilbert.hpp"

using namespace plaq;

namespace {

balance::load_distribution plume(int ranks) {
  const int n = int(std::lround(std::sqrt(16.0 * ranks)));
  balance::load_distribution s{.ranks = ranks, .loads = {}, .rank_of = {}};
  s.ranks_per_node = 32;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const std::size_t i = std::size_t(x) + std::size_t(n) * std::size_t(y);
      s.loads.push_back(0.1 + 3 * std::exp(-8.0 * x / n) * std::exp(-20 * std::pow(double(y) / n - 0.5, 2)));
      s.positions.push_back(elements::hilbert_position<2>({x, y}, {n, n}));
      s.rank_of.push_back(int(s.positions.back() * std::uint64_t(ranks) / (std::uint64_t(n) * std::uint64_t(n))));
      s.points.push_back({double(x), double(y), 0});
      s.sizes.push_back(1);
      if (x > 0) s.edges.push_back({i, i - 1, 1});
      if (y > 0) s.edges.push_back({i, i - std::size_t(n), 1});
    }
  return s;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<int> all{64, 1024, 16384};
  if (count > 1) all.clear();
  std::ofstream file;
  for (int i = 1; i < count; ++i)
    if (const int ranks = std::atoi(arguments[i]); ranks > 0)
      all.push_back(ranks);
    else
      file.open(arguments[i]);
  for (const int ranks : all) {
    const auto s = plume(ranks);
    for (std::size_t i = 0; i < s.size(); ++i) file << s.loads[i] << ' ' << s.rank_of[i] << '\n';
    const auto before = balance::evaluate(s, s.rank_of);
    std::printf("%d ranks, %zu elements: I %.3f, floor %.3f, cut %.3f\n", ranks, s.size(), before.imbalance(),
                before.floor(), before.cut / double(s.edges.size()));
    for (const auto& b : balance::balancers()) {
      const std::clock_t began = std::clock();
      const auto to = b.call(s);
      const double seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
      const auto after = balance::evaluate(s, to);
      std::printf("  %-16.*s I %.3f  moved %.3f  cut %.3f  %9.4f s\n", int(b.name.size()), b.name.data(),
                  after.imbalance(), after.moved / double(s.size()), after.cut / double(s.edges.size()), seconds);
    }
  }
}
