// All balancers on one load: a plume of particles beside the left side of a square mesh, 16 elements for each
// rank, placed along the Hilbert curve. Imbalance I = max/mean - 1 before and after, the floor that the largest
// element sets, how many elements move, how much of the edges is cut, and the processor time of the balancer
// itself.
//   bench_balancers [RANKS...] [FILE]
// The loads go to the file, for the program in charm/: a line for each element with its load and its rank.
//   bench_balancers --protocols RANKS...
// Balancers that no rank knows all loads of: rounds, each with one reduction over all ranks, and what a rank has to do.
#include "plaq/collection/balance/balancers.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <numeric>
#include <string_view>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balance/protocol.hpp"
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

/// Runs a protocol on all ranks by turns and prints its rounds, messages and processor time.
void print_protocol(const char* name, const balance::load_distribution& s, balance::protocol by) {
  std::deque<balance::participant> ranks;
  for (int r = 0; r < s.ranks; ++r) ranks.push_back({.rank = r, .ranks = s.ranks, .local = {}});
  std::vector<balance::element_info*> info(s.size());
  for (std::size_t i = 0; i < s.size(); ++i)
    ranks[std::size_t(s.rank_of[i])].local.push_back({.id = i, .load = s.loads[i], .origin = s.rank_of[i]});
  for (auto& p : ranks)
    for (auto& e : p.local) info[e.id] = &e;
  for (const auto& e : s.edges) info[e.a]->peers.push_back({e.b, s.rank_of[e.b], 0, e.weight});
  std::vector<balance::coroutine> coroutines;
  for (auto& p : ranks) coroutines.push_back(balance::run_protocol(p, by));

  std::vector<long> messages(ranks.size()), bytes(ranks.size());
  std::vector<std::vector<balance::protocol_message>> next(ranks.size());
  int rounds = 0;
  const std::clock_t began = std::clock();
  for (bool running = true; running; ++rounds) {
    running = false;
    balance::reduced_values reduced;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      running = coroutines[r].resume() || running;
      for (auto& m : ranks[r].outgoing) {
        ++messages[r];
        bytes[r] += long(archive::size(m));
        next[std::size_t(m.to)].push_back(std::move(m));
      }
      ranks[r].outgoing.clear();
      reduced.add(ranks[r].own);
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].reduced = reduced;
      ranks[r].own = {};
      ranks[r].incoming.swap(next[r]);
      next[r].clear();
    }
  }
  const double seconds = double(std::clock() - began) / CLOCKS_PER_SEC, n = s.ranks;
  const auto mean = [n](const std::vector<long>& of) { return double(std::accumulate(of.begin(), of.end(), 0L)) / n; };
  const auto& end = ranks[0];
  std::printf("  %-10s I %.3f -> %.3f  %5d rounds  messages of a rank %.0f, at most %ld  kB %.1f, %.1f  ms %.3f\n",
              name, end.before / end.mean - 1, end.after / end.mean - 1, rounds, mean(messages),
              std::ranges::max(messages), 1e-3 * mean(bytes), 1e-3 * double(std::ranges::max(bytes)),
              1e3 * seconds / n);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "--protocols") {
    for (int i = 2; i < count; ++i) {
      const auto s = plume(std::atoi(arguments[i]));
      std::printf("%d ranks, %zu elements\n", s.ranks, s.size());
      print_protocol("gossip", s, balance::gossip_protocol);
      print_protocol("diffusion", s, balance::diffusion_protocol);
    }
    return 0;
  }
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
