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

/// Refinement of a plan: elements leave the rank with the highest load until all are near the mean.
class refinement {
 public:
  refinement(const load_distribution& s, plan to)
      : s_(s), to_(std::move(to)), links_(s.size()), on_(std::size_t(s.ranks)), now_(s, to_) {
    for (const edge& e : s.edges)
      if (e.a != e.b) links_[e.a].push_back({e.b, e.weight}), links_[e.b].push_back({e.a, e.weight});
    for (auto& of : links_) std::ranges::sort(of, {}, [](const link& l) { return std::pair(l.other, l.weight); });
    for (std::size_t i = 0; i < s.size(); ++i) on_[std::size_t(to_[i])].insert(i);
    for (int r = 0; r < s.ranks; ++r) by_load_.emplace(load(r), r);
    mean_ = std::accumulate(now_.load.begin(), now_.load.end(), 0.0) / s.ranks;
    enough_ = (1 + tolerance) * mean_;
  }

  /// Returns the refined plan.
  ///
  /// Each move takes from the highest rank and leaves the other below its load. One pass over a rank of very many
  /// elements gives several moves, so that the time does not grow with their square.
  plan result() {
    for (std::size_t moves = 0; moves < 4 * s_.size() + 16;) {
      const auto [highest, from] = *by_load_.rbegin();
      if (highest <= enough_) break;
      choice filling;
      const std::size_t made = make_best_moves(from, filling);
      moves += std::max<std::size_t>(made, 1);
      if (made > 0) continue;
      if (filling.rank >= 0)
        move(filling.element, from, filling.rank);
      else if (!exchange_with_emptiest(from))
        break;
    }
    return std::move(to_);
  }

 private:
  struct link {
    std::size_t other;
    double weight;
  };

  struct choice {
    std::size_t element = 0;
    int rank = -1;
    double cost = 0;  ///< added cut for each unit of load
    double use = 0;   ///< load that it takes off the rank above the mean
    bool better_than(const choice& other) const {
      return cost != other.cost ? cost < other.cost : use != other.use ? use > other.use : element < other.element;
    }
  };

  double load(int rank) const { return now_.load[std::size_t(rank)]; }

  void move(std::size_t i, int from, int rank) {
    for (const int r : {from, rank}) by_load_.erase({load(r), r});
    now_.move(s_, i, from, rank);
    for (const int r : {from, rank}) by_load_.emplace(load(r), r);
    on_[std::size_t(from)].erase(i);
    on_[std::size_t(rank)].insert(i);
    to_[i] = rank;
  }

  /// Makes the best moves of elements of `from` that bring no rank above the mean, and returns their number. A move
  /// that only fills the emptiest rank goes to `filling`.
  std::size_t make_best_moves(int from, choice& filling) {
    std::vector<choice> choices;
    for (const std::size_t i : on_[std::size_t(from)])
      if (const choice c = best_move(i, from, filling); c.rank >= 0) choices.push_back(c);
    if (choices.empty()) return 0;
    const std::size_t count = std::min(choices.size(), 1 + on_[std::size_t(from)].size() / 64);
    std::ranges::partial_sort(choices, choices.begin() + std::ptrdiff_t(count),
                              [](const choice& a, const choice& b) { return a.better_than(b); });
    std::size_t moves = 0;
    choice ignored;
    for (std::size_t k = 0; k < count && load(from) > enough_; ++k)
      if (const choice c = k == 0 ? choices[0] : best_move(choices[k].element, from, ignored); c.rank >= 0)
        move(c.element, from, c.rank), ++moves;
    return moves;
  }

  choice best_move(std::size_t i, int from, choice& filling) const {
    const double size = s_.loads[i], highest = load(from);
    const int emptiest = by_load_.begin()->second;
    choice best{i};
    if (size <= 0) return best;
    const auto consider = [&](int rank) {
      const double after = load(rank) + size;
      if (rank == from || after >= highest || !now_.has_room(s_, i, rank)) return;
      if (after > enough_) {  // to the emptiest, what fills it best
        if (rank == emptiest && (filling.rank < 0 || size < s_.loads[filling.element])) filling = {i, rank, 0, 0};
        return;
      }
      double internal = 0, external = 0;
      for (const link& l : links_[i]) {
        if (to_[l.other] == from) internal += l.weight;
        if (to_[l.other] == rank) external += l.weight;
      }
      // Only the load above the mean is useful.
      const double use = std::min(size, highest - mean_);
      const choice c{i, rank, (internal - external) / use, use};
      if (best.rank < 0 || c.better_than(best)) best = c;
    };
    consider(emptiest);
    for (const link& l : links_[i]) consider(to_[l.other]);
    return best;
  }

  /// Exchanges two elements where no element is small enough to move; returns whether any exchange helps.
  bool exchange_with_emptiest(int from) {
    constexpr std::size_t most_ranks = 32;
    std::vector<int> others;
    for (auto r = by_load_.begin(); r->second != from && others.size() < most_ranks; ++r) others.push_back(r->second);
    return std::ranges::any_of(others, [&](int r) { return exchange(from, r); });
  }

  /// Exchanges the two elements that bring the ranks closest.
  bool exchange(int from, int rank) {
    const double apart = load(from) - load(rank);
    double best = apart * (1 - 1e-9);
    std::pair<std::size_t, std::size_t> pair{s_.size(), s_.size()};
    for (const std::size_t i : on_[std::size_t(from)]) {
      if (s_.loads[i] <= 0) continue;  // would bring them no closer
      for (const std::size_t j : on_[std::size_t(rank)]) {
        const double left = std::abs(apart - 2 * (s_.loads[i] - s_.loads[j]));
        const double more = s_.bytes_of(i) - s_.bytes_of(j);
        if (left >= best || now_.bytes[std::size_t(rank)] + more > s_.most_bytes ||
            now_.bytes[std::size_t(from)] - more > s_.most_bytes)
          continue;
        best = left;
        pair = {i, j};
      }
    }
    if (pair.first == s_.size()) return false;
    move(pair.first, from, rank);
    move(pair.second, rank, from);
    return true;
  }

  const load_distribution& s_;
  plan to_;
  std::vector<std::vector<link>> links_;
  std::vector<std::set<std::size_t>> on_;  ///< [rank] its elements
  totals now_;
  std::set<std::pair<double, int>> by_load_;
  double mean_ = 0, enough_ = 0;
};

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

plan refined(const load_distribution& s, plan to) { return refinement(s, std::move(to)).result(); }

}  // namespace detail

plan refine(const load_distribution& s) {
  validate(s);
  return detail::never_worse(s, detail::refined(s, s.rank_of));
}

}  // namespace plaq::balance
