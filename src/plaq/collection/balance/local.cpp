// Balancers for ranks that know little: their neighbours, or what they have heard.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"

namespace plaq::balance {

plan diffusion(const situation& s) {
  need_sound(s);
  constexpr int rounds = 40;
  plan to = s.where, best = to;
  totals now(s, to);
  double lowest = now.highest();
  std::vector<std::vector<std::size_t>> edges_of(s.size());
  for (std::size_t k = 0; k < s.edges.size(); ++k) {
    edges_of[s.edges[k].a].push_back(k);
    edges_of[s.edges[k].b].push_back(k);
  }
  for (int round = 0; round < rounds; ++round) {
    // Who talks to whom now.
    std::vector<std::set<int>> beside(std::size_t(s.ranks));
    const auto are_beside = [&](int a, int b) {
      if (a != b) beside[std::size_t(a)].insert(b), beside[std::size_t(b)].insert(a);
    };
    for (const edge& e : s.edges) are_beside(to[e.a], to[e.b]);
    if (s.edges.empty())
      for (int r = 0; r < s.ranks; ++r) are_beside(r, (r + 1) % s.ranks);
    std::vector<std::vector<std::size_t>> on(std::size_t(s.ranks));
    for (std::size_t i = 0; i < s.size(); ++i) on[std::size_t(to[i])].push_back(i);

    const auto before = now.load;
    bool any = false;
    for (int from = 0; from < s.ranks; ++from) {
      const auto& others = beside[std::size_t(from)];
      for (const int rank : others) {
        // A share of the difference: stable where degrees are equal (first order scheme).
        const double degree = double(std::max(others.size(), beside[std::size_t(rank)].size()));
        double flow = (before[std::size_t(from)] - before[std::size_t(rank)]) / (degree + 1);
        if (flow <= 0) continue;
        // Those that talk most to where they go; among these the largest that the flow carries.
        std::vector<std::pair<double, std::size_t>> willing;
        for (const std::size_t i : on[std::size_t(from)]) {
          if (to[i] != from || s.loads[i] <= 0) continue;
          double gain = 0;
          for (const std::size_t k : edges_of[i]) {
            const auto other = s.edges[k].a == i ? s.edges[k].b : s.edges[k].a;
            gain += to[other] == rank ? s.edges[k].weight : to[other] == from ? -s.edges[k].weight : 0;
          }
          willing.emplace_back(gain, i);
        }
        std::ranges::sort(willing, [&](const auto& a, const auto& b) {
          return std::tuple(-a.first, -s.loads[a.second], a.second) < std::tuple(-b.first, -s.loads[b.second], b.second);
        });
        for (const auto& [gain, i] : willing) {
          // Half an element too many is as far from the flow as half too few.
          if (s.loads[i] / 2 > flow || now.load[std::size_t(rank)] + s.loads[i] >= now.load[std::size_t(from)]) continue;
          if (!now.has_room(s, i, rank)) continue;
          now.move(s, i, from, rank);
          to[i] = rank;
          flow -= s.loads[i];
          any = true;
        }
      }
    }
    if (now.highest() < lowest) lowest = now.highest(), best = to;
    if (!any) break;
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
    // Loads that each rank has heard of, and in which hop last, so that news are passed on once.
    std::vector<std::map<int, double>> heard(std::size_t(s.ranks));
    std::vector<int> speaks;
    for (int r = 0; r < s.ranks; ++r)
      if (now.load[std::size_t(r)] < mean) heard[std::size_t(r)][r] = now.load[std::size_t(r)], speaks.push_back(r);
    for (int hop = 0; hop < hops && !speaks.empty(); ++hop) {
      std::set<int> next;
      for (const int r : speaks) {
        const auto says = heard[std::size_t(r)];
        for (int k = 0; k < fan_out; ++k) {
          const int to_whom = int(below(draw(r, hop, std::uint64_t(k)), std::uint64_t(s.ranks)));
          auto& knows = heard[std::size_t(to_whom)];
          const auto before = knows.size();
          for (const auto& one : says)
            if (knows.size() < memory) knows.insert(one);
          if (knows.size() > before) next.insert(to_whom);
        }
      }
      speaks.assign(next.begin(), next.end());
    }
    std::vector<std::vector<std::size_t>> on(std::size_t(s.ranks));
    for (std::size_t i = 0; i < s.size(); ++i) on[std::size_t(to[i])].push_back(i);
    for (int r = 0; r < s.ranks; ++r) {
      auto& mine = on[std::size_t(r)];
      auto& known = heard[std::size_t(r)];
      known.erase(r);
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
