// Balancers for ranks that know little: their neighbours, or what they have heard.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"

namespace plaq::balance {

namespace {

/// Two ranks that talk, and how much load is to go from the first to the second; back, where it is negative.
struct channel {
  int a, b;
  double share = 0;  ///< of the difference of their loads, that flows in a round
  double flow = 0;
};

/// Ranks whose elements talk to each other, by the lower rank; without edges a ring.
std::vector<channel> channels_of(const situation& s, const plan& to) {
  std::vector<std::pair<int, int>> pairs;
  for (const edge& e : s.edges)
    if (const auto [a, b] = std::minmax({to[e.a], to[e.b]}); a != b) pairs.emplace_back(a, b);
  if (s.edges.empty())
    for (int r = 0; r < s.ranks; ++r)
      if (const auto [a, b] = std::minmax({r, (r + 1) % s.ranks}); a != b) pairs.emplace_back(a, b);
  std::ranges::sort(pairs);
  const auto rest = std::ranges::unique(pairs);
  pairs.erase(rest.begin(), rest.end());
  std::vector<channel> out;
  for (const auto& [a, b] : pairs) out.push_back({a, b});
  return out;
}

/// How many channels the two ranks are apart that are farthest from each other, where they are joined at all; at least half
/// of that, and in trees and meshes all of it.
int width(const std::vector<channel>& all, std::size_t ranks) {
  std::vector<std::vector<int>> beside(ranks);
  for (const channel& c : all) {
    beside[std::size_t(c.a)].push_back(c.b);
    beside[std::size_t(c.b)].push_back(c.a);
  }
  int widest = 0;
  std::vector<int> at(ranks, -1);
  const auto spread = [&](int from) {  // the last that it reaches
    std::vector<int> reached{from};
    at[std::size_t(from)] = 0;
    for (std::size_t k = 0; k < reached.size(); ++k)
      for (const int next : beside[std::size_t(reached[k])])
        if (at[std::size_t(next)] < 0) {
          at[std::size_t(next)] = at[std::size_t(reached[k])] + 1;
          reached.push_back(next);
        }
    widest = std::max(widest, at[std::size_t(reached.back())]);
    return reached;
  };
  for (std::size_t r = 0; r < ranks; ++r)
    if (at[r] < 0) {
      const auto part = spread(int(r));
      for (const int one : part) at[std::size_t(one)] = -1;
      spread(part.back());
    }
  return widest;
}

/// What has to flow so that loads become alike: the second order scheme, which remembers its last
/// flows, so that load comes as far in n rounds as by plain diffusion in n^2. Flows are differences of a height that ranks
/// have, so they run in no circle; returned are the ranks from high to low.
std::vector<int> find_flows(std::vector<channel>& all, std::vector<double> load, int most_rounds) {
  std::vector<int> degree(load.size(), 0);
  for (const channel& c : all) ++degree[std::size_t(c.a)], ++degree[std::size_t(c.b)];
  for (channel& c : all) c.share = 1.0 / (std::max(degree[std::size_t(c.a)], degree[std::size_t(c.b)]) + 1);
  const int across = width(all, load.size());
  const double memory = 2 / (1 + std::sin(std::numbers::pi / std::max(2, across)));
  const int rounds = std::min(16 + 4 * across, most_rounds);
  std::vector<double> rise(load.size(), 0), height(load.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    const double beta = round == 0 ? 1 : memory;
    for (std::size_t r = 0; r < load.size(); ++r) {
      rise[r] = (beta - 1) * rise[r] + beta * load[r];
      height[r] += rise[r];
    }
    for (const channel& c : all) {
      const double flow = c.share * (rise[std::size_t(c.a)] - rise[std::size_t(c.b)]);
      load[std::size_t(c.a)] -= flow;
      load[std::size_t(c.b)] += flow;
    }
  }
  for (channel& c : all) c.flow = c.share * (height[std::size_t(c.a)] - height[std::size_t(c.b)]);
  std::vector<int> order(load.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](int r) { return height[std::size_t(r)]; });
  return order;
}

/// Elements along the flows. A rank gives once all that flows to it has come.
void let_flow(const situation& s, const std::vector<std::vector<std::size_t>>& edges_of, plan& to, totals& now,
              int most_rounds) {
  auto channels = channels_of(s, to);
  const auto order = find_flows(channels, now.load, most_rounds);
  std::vector<std::vector<const channel*>> out_of(std::size_t(s.ranks));
  for (const channel& c : channels)
    if (c.flow != 0) out_of[std::size_t(c.flow > 0 ? c.a : c.b)].push_back(&c);
  std::vector<std::vector<std::size_t>> on(std::size_t(s.ranks));
  for (std::size_t i = 0; i < s.size(); ++i) on[std::size_t(to[i])].push_back(i);
  for (const int from : order) {
    double left = 0;
    for (const channel* c : out_of[std::size_t(from)]) {
      const int rank = c->a == from ? c->b : c->a;
      left += std::abs(c->flow);  // with what the channels before could not carry
      // Those that talk most to where they go; among these the largest that the flow carries. Half an element too many is
      // as far from the flow as half too few.
      std::vector<std::pair<double, std::size_t>> willing;
      for (const std::size_t i : on[std::size_t(from)]) {
        if (s.loads[i] <= 0 || s.loads[i] / 2 > left) continue;
        double gain = 0;
        for (const std::size_t e : edges_of[i]) {
          const auto other = s.edges[e].a == i ? s.edges[e].b : s.edges[e].a;
          gain += to[other] == rank ? s.edges[e].weight : to[other] == from ? -s.edges[e].weight : 0;
        }
        willing.emplace_back(gain, i);
      }
      std::ranges::sort(willing, {}, [&](const auto& one) { return std::tuple(-one.first, -s.loads[one.second], one.second); });
      for (const auto& [gain, i] : willing) {
        if (s.loads[i] / 2 > left || !now.has_room(s, i, rank)) continue;
        now.move(s, i, from, rank);
        to[i] = rank;
        on[std::size_t(rank)].push_back(i);
        left -= s.loads[i];
      }
      std::erase_if(on[std::size_t(from)], [&](std::size_t i) { return to[i] != from; });
    }
  }
}

}  // namespace

plan diffusion(const situation& s) {
  need_sound(s);
  constexpr int times = 4;  // the first brings load where it lacks, the others mend nearby what elements are too coarse for
  std::vector<std::vector<std::size_t>> edges_of(s.size());
  for (std::size_t k = 0; k < s.edges.size(); ++k) {
    edges_of[s.edges[k].a].push_back(k);
    edges_of[s.edges[k].b].push_back(k);
  }
  plan to = s.where, best = to;
  totals now(s, to);
  double lowest = now.highest();
  for (int time = 0; time < times; ++time) {
    let_flow(s, edges_of, to, now, time == 0 ? 2000 : 64);
    if (now.highest() < lowest) lowest = now.highest(), best = to;
  }
  return detail::never_worse(s, std::move(best));
}

plan gossip(const situation& s) {
  need_sound(s);
  constexpr int iterations = 8, fan_out = 4;
  constexpr std::size_t memory = 64;  // ranks that one remembers, so that knowledge stays small on many
  const int hops = int(std::ceil(std::log2(double(s.ranks) + 1)));
  plan to = s.where, best = to;
  totals now(s, to);
  double lowest = now.highest();
  const double mean = std::accumulate(now.load.begin(), now.load.end(), 0.0) / s.ranks;
  for (int iteration = 0; iteration < iterations && lowest > 1.001 * mean; ++iteration) {
    const auto draw = [&](int rank, int purpose, std::uint64_t index) {
      return random_words({.seed = 0x676f7373, .i = std::uint32_t(rank), .j = std::uint32_t(purpose),
                           .k = std::uint32_t(iteration)}, index)[0];
    };
    // Ranks that each has heard of, in their order; who has news passes them on once.
    std::vector<std::vector<int>> heard(std::size_t(s.ranks));
    std::vector<int> speaks;
    for (int r = 0; r < s.ranks; ++r)
      if (now.load[std::size_t(r)] < mean) heard[std::size_t(r)].push_back(r), speaks.push_back(r);
    const std::vector<double> said = now.load;
    for (int hop = 0; hop < hops && !speaks.empty(); ++hop) {
      std::vector<int> next;
      for (const int r : speaks) {
        const auto says = heard[std::size_t(r)];
        for (int k = 0; k < fan_out; ++k) {
          const int to_whom = int(below(draw(r, hop, std::uint64_t(k)), std::uint64_t(s.ranks)));
          auto& knows = heard[std::size_t(to_whom)];
          if (knows.size() == memory) continue;
          std::vector<int> both;
          std::ranges::set_union(knows, says, std::back_inserter(both));
          if (both.size() > memory) {  // some of them, others than other ranks keep
            const auto dice = [&](int one) { return (std::uint64_t(one) + 1) * (2 * std::uint64_t(to_whom) + 1) * 0x9e3779b97f4a7c15u; };
            std::ranges::nth_element(both, both.begin() + memory, {}, dice);
            both.resize(memory);
            std::ranges::sort(both);
          }
          if (both == knows) continue;
          knows = std::move(both);
          next.push_back(to_whom);
        }
      }
      std::ranges::sort(next);
      const auto rest = std::ranges::unique(next);
      next.erase(rest.begin(), rest.end());
      speaks = std::move(next);
    }
    std::vector<std::vector<std::size_t>> on(std::size_t(s.ranks));
    for (std::size_t i = 0; i < s.size(); ++i) on[std::size_t(to[i])].push_back(i);
    for (int r = 0; r < s.ranks; ++r) {
      if (now.load[std::size_t(r)] <= mean) continue;
      auto& mine = on[std::size_t(r)];
      std::vector<std::pair<int, double>> known;  // and what it believes of their loads
      for (const int one : heard[std::size_t(r)])
        if (one != r) known.emplace_back(one, said[std::size_t(one)]);
      std::ranges::stable_sort(mine, std::greater<>(), [&](std::size_t i) { return s.loads[i]; });
      for (std::uint64_t k = 0; k < mine.size() && now.load[std::size_t(r)] > mean && !known.empty(); ++k) {
        const std::size_t i = mine[k];
        if (s.loads[i] <= 0) break;
        // With a chance that grows with what the rank has less than the one that has most of those known.
        double most = mean;
        for (const auto& [rank, load] : known) most = std::max(most, load);
        double all = 0;
        for (const auto& [rank, load] : known) all += 1 - load / (most * (1 + 1e-9));
        double left = unit_interval(draw(r, 1000, k)) * all;
        auto taker = known.begin();
        for (auto one = known.begin(); one != known.end() && left >= 0; ++one) {
          taker = one;
          left -= 1 - one->second / (most * (1 + 1e-9));
        }
        if (taker->second + s.loads[i] >= now.load[std::size_t(r)] || !now.has_room(s, i, taker->first)) continue;
        now.move(s, i, r, taker->first);
        to[i] = taker->first;
        taker->second += s.loads[i];
      }
    }
    if (now.highest() < lowest) lowest = now.highest(), best = to;
  }
  return detail::never_worse(s, std::move(best));
}

}  // namespace plaq::balance
