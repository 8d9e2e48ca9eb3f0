// Balancers that assign or move one element after the other, and know all loads.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <set>

#include "plaq/collection/balance/balancers.hpp"

namespace plaq::balance {

namespace {

constexpr double tolerance = 0.02;  // of the mean: the accuracy of measured loads

std::vector<std::size_t> largest_first(const load_distribution& s) {
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return s.loads[i]; });
  return order;
}

/// Assigns all elements, the largest first: to the current rank if stay(i, load so far), otherwise to the rank with the
/// lowest load that has room.
template <class Stay>
plan assign(const load_distribution& s, Stay stay) {
  plan to(s.size(), 0);
  std::vector<double> load(std::size_t(s.ranks)), bytes(std::size_t(s.ranks));
  std::set<std::pair<double, int>> least;
  for (int r = 0; r < s.ranks; ++r) least.emplace(0, r);
  for (const std::size_t i : largest_first(s)) {
    const auto fits = [&](int r) { return bytes[std::size_t(r)] + s.bytes_of(i) <= s.most_bytes; };
    int rank = s.rank_of[i];
    if (!(stay(i, load[std::size_t(rank)]) && fits(rank))) {
      const auto found = std::ranges::find_if(least, [&](const auto& one) { return fits(one.second); });
      if (found != least.end()) rank = found->second;
    }
    least.erase({load[std::size_t(rank)], rank});
    load[std::size_t(rank)] += s.loads[i];
    bytes[std::size_t(rank)] += s.bytes_of(i);
    least.emplace(load[std::size_t(rank)], rank);
    to[i] = rank;
  }
  return to;
}

}  // namespace

plan longest_first(const load_distribution& s) {
  validate(s);
  return detail::never_worse(s, assign(s, [](std::size_t, double) { return false; }));
}

plan greedy_refine(const load_distribution& s) {
  validate(s);
  const auto best = evaluate(s, assign(s, [](std::size_t, double) { return false; }));
  const double most = std::max(best.highest, (1 + tolerance) * best.mean);
  auto to = assign(s, [&](std::size_t i, double load) { return load + s.loads[i] <= most; });
  return detail::never_worse(s, std::move(to));
}

namespace detail {

plan refined(const load_distribution& s, plan to) {
  struct link {
    std::size_t other;
    double weight;
  };
  std::vector<std::vector<link>> links(s.size());
  for (const edge& e : s.edges)
    if (e.a != e.b) links[e.a].push_back({e.b, e.weight}), links[e.b].push_back({e.a, e.weight});
  for (auto& of : links) std::ranges::sort(of, {}, [](const link& l) { return std::pair(l.other, l.weight); });
  std::vector<std::set<std::size_t>> on(std::size_t(s.ranks));
  for (std::size_t i = 0; i < s.size(); ++i) on[std::size_t(to[i])].insert(i);
  totals now(s, to);
  std::set<std::pair<double, int>> by_load;
  for (int r = 0; r < s.ranks; ++r) by_load.emplace(now.load[std::size_t(r)], r);
  const double mean = std::accumulate(now.load.begin(), now.load.end(), 0.0) / s.ranks, enough = (1 + tolerance) * mean;

  struct choice {
    std::size_t element = 0;
    int rank = -1;
    double cost = 0;  ///< added cut for each unit of load
    double use = 0;   ///< load that it takes off the rank above the mean
    bool better_than(const choice& other) const {
      return cost != other.cost ? cost < other.cost : use != other.use ? use > other.use : element < other.element;
    }
  };
  const auto move = [&](std::size_t i, int from, int rank) {
    for (const int r : {from, rank}) by_load.erase({now.load[std::size_t(r)], r});
    now.move(s, i, from, rank);
    for (const int r : {from, rank}) by_load.emplace(now.load[std::size_t(r)], r);
    on[std::size_t(from)].erase(i);
    on[std::size_t(rank)].insert(i);
    to[i] = rank;
  };
  // Where no element is small enough to move: exchanges the two that bring the ranks closest.
  const auto exchange = [&](int from, int rank) {
    const double apart = now.load[std::size_t(from)] - now.load[std::size_t(rank)];
    double best = apart * (1 - 1e-9);
    std::pair<std::size_t, std::size_t> pair{s.size(), s.size()};
    for (const std::size_t i : on[std::size_t(from)]) {
      if (s.loads[i] <= 0) continue;  // would bring them no closer
      for (const std::size_t j : on[std::size_t(rank)]) {
        const double left = std::abs(apart - 2 * (s.loads[i] - s.loads[j]));
        const double more = s.bytes_of(i) - s.bytes_of(j);
        if (left >= best || now.bytes[std::size_t(rank)] + more > s.most_bytes ||
            now.bytes[std::size_t(from)] - more > s.most_bytes)
          continue;
        best = left;
        pair = {i, j};
      }
    }
    if (pair.first == s.size()) return false;
    move(pair.first, from, rank);
    move(pair.second, rank, from);
    return true;
  };
  // Best move of an element of `from`. A move that only fills the emptiest rank goes to `filling`.
  const auto best_move = [&](std::size_t i, int from, choice& filling) {
    const double load = s.loads[i], highest = now.load[std::size_t(from)];
    const int emptiest = by_load.begin()->second;
    choice best{i};
    if (load <= 0) return best;
    const auto consider = [&](int rank) {
      const double after = now.load[std::size_t(rank)] + load;
      if (rank == from || after >= highest || !now.has_room(s, i, rank)) return;
      if (after > enough) {  // to the emptiest, what fills it best
        if (rank == emptiest && (filling.rank < 0 || load < s.loads[filling.element])) filling = {i, rank, 0, 0};
        return;
      }
      double internal = 0, external = 0;
      for (const link& l : links[i]) {
        if (to[l.other] == from) internal += l.weight;
        if (to[l.other] == rank) external += l.weight;
      }
      // Only the load above the mean is useful.
      const double use = std::min(load, highest - mean);
      const choice c{i, rank, (internal - external) / use, use};
      if (best.rank < 0 || c.better_than(best)) best = c;
    };
    consider(emptiest);
    for (const link& l : links[i]) consider(to[l.other]);
    return best;
  };
  // Each move takes from the highest rank and leaves the other below its load. One pass over a rank of very many
  // elements gives several moves, so that the time does not grow with their square.
  std::vector<choice> choices;
  for (std::size_t moves = 0; moves < 4 * s.size() + 16;) {
    const auto [highest, from] = *by_load.rbegin();
    if (highest <= enough) break;
    choice filling, ignored;
    choices.clear();
    for (const std::size_t i : on[std::size_t(from)])
      if (const choice c = best_move(i, from, filling); c.rank >= 0) choices.push_back(c);
    if (!choices.empty()) {
      const std::size_t count = std::min(choices.size(), 1 + on[std::size_t(from)].size() / 64);
      std::ranges::partial_sort(choices, choices.begin() + std::ptrdiff_t(count),
                                [](const choice& a, const choice& b) { return a.better_than(b); });
      for (std::size_t k = 0; k < count && now.load[std::size_t(from)] > enough; ++k)
        if (const choice c = k == 0 ? choices[0] : best_move(choices[k].element, from, ignored); c.rank >= 0)
          move(c.element, from, c.rank), ++moves;
      continue;
    }
    ++moves;
    if (filling.rank >= 0) {
      move(filling.element, from, filling.rank);
      continue;
    }
    constexpr std::size_t most_ranks = 32;  // ranks, the emptiest first
    std::vector<int> others;
    for (auto r = by_load.begin(); r->second != from && others.size() < most_ranks; ++r) others.push_back(r->second);
    if (std::ranges::none_of(others, [&](int r) { return exchange(from, r); })) break;
  }
  return to;
}

}  // namespace detail

plan refine(const load_distribution& s) {
  validate(s);
  return detail::never_worse(s, detail::refined(s, s.rank_of));
}

}  // namespace plaq::balance
