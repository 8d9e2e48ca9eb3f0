// Balancing by randomised gossip. See balancers.hpp.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/balance/protocol.hpp"

namespace plaq::balance {

namespace {

/// Ranks and their loads, by rank.
using known_loads = std::vector<std::pair<int, double>>;
constexpr std::size_t capacity = 64;  // ranks whose loads a rank keeps, so that messages stay small on many ranks

/// Merges the loads that a message brings into those that `rank` knows. Of more than `capacity` it keeps a subset that
/// depends on the rank. Returns whether any is new.
bool merge(known_loads& known, const known_loads& brought, int rank) {
  if (known.size() == capacity) return false;
  known_loads both;
  std::ranges::set_union(known, brought, std::back_inserter(both), {}, &known_loads::value_type::first,
                         &known_loads::value_type::first);
  if (both.size() > capacity) {
    const auto random = [&](const auto& entry) {
      return (std::uint64_t(entry.first) + 1) * (2 * std::uint64_t(rank) + 1) * 0x9e3779b97f4a7c15u;
    };
    std::ranges::nth_element(both, both.begin() + capacity, {}, random);
    both.resize(capacity);
    std::ranges::sort(both);
  }
  const bool grown = both.size() > known.size();
  if (grown) known = std::move(both);
  return grown;
}

/// Index of the rank that takes an element. Its probability is proportional to the difference of its load from the
/// highest known one, at least `mean`. `random` in [0, 1).
std::size_t pick(const known_loads& known, double mean, double random) {
  double highest = mean, all = 0;
  for (const auto& [rank, load] : known) highest = std::max(highest, load);
  const auto chance = [&](std::size_t k) { return 1 - known[k].second / (highest * (1 + 1e-9)); };
  for (std::size_t k = 0; k < known.size(); ++k) all += chance(k);
  double left = random * all;
  std::size_t taker = 0;
  for (std::size_t k = 0; k < known.size() && left >= 0; ++k) {
    taker = k;
    left -= chance(k);
  }
  return taker;
}

}  // namespace

coroutine gossip_protocol(participant& self, assignment& assigned) {
  constexpr int iterations = 8, fan_out = 4;
  const int hops = int(std::ceil(std::log2(double(self.ranks) + 1)));
  for (int iteration = 0; iteration < iterations && self.lowest > 1.001 * self.mean; ++iteration) {
    const auto draw = [&](int purpose, std::uint64_t index) {
      return random_words({.seed = 0x676f7373,
                           .i = std::uint32_t(self.rank),
                           .j = std::uint32_t(purpose),
                           .k = std::uint32_t(iteration)},
                          index)[0];
    };
    // Loads below the mean spread: a rank sends on, once, what is new to it.
    known_loads known;
    if (assigned.load < self.mean) known.emplace_back(self.rank, assigned.load);
    bool grown = !known.empty();
    for (int hop = 0; hop < hops; ++hop) {
      for (int k = 0; grown && k < fan_out; ++k)
        if (const int to = int(below(draw(hop, std::uint64_t(k)), std::uint64_t(self.ranks))); to != self.rank)
          self.message_to(to).content().loads = known;
      self.own.sum[0] = grown;
      co_await next_round;
      if (self.reduced.sum[0] == 0) break;
      grown = false;
      for (const protocol_message& m : self.incoming) grown = merge(known, m.more->loads, self.rank) || grown;
    }

    // Offers, the largest elements first.
    std::erase_if(known, [&](const auto& entry) { return entry.first == self.rank; });
    if (assigned.load > self.mean && !known.empty()) {
      std::vector<std::pair<double, element_id>> largest;
      for (const auto& [id, e] : assigned.elements)
        if (e.load > 0) largest.emplace_back(-e.load, id);
      std::ranges::sort(largest);
      for (std::uint64_t k = 0; k < largest.size() && assigned.load > self.mean; ++k) {
        auto& [taker, load] = known[pick(known, self.mean, unit_interval(draw(1000, k)))];
        const double element_load = -largest[k].first;
        if (load + element_load >= assigned.load) continue;
        auto& offer = self.message_to(taker);
        offer.numbers[0] = assigned.load;
        offer.content().elements.push_back(assigned.take(largest[k].second));
        load += element_load;
      }
    }
    co_await next_round;
    // Answers: a taker ends below the giver, which did not know the offers of others; the rest goes back.
    for (protocol_message& m : self.incoming)
      for (element_info& offered : m.more->elements)
        if (assigned.load + offered.load < m.numbers[0] && self.has_room(assigned, offered))
          assigned.add(std::move(offered));
        else
          self.message_to(m.from).content().elements.push_back(std::move(offered));
    co_await next_round;
    for (protocol_message& m : self.incoming)
      for (element_info& refused : m.more->elements) assigned.add(std::move(refused));
    self.own.highest[0] = assigned.load;
    co_await next_round;
    self.keep_if_better(assigned, self.reduced.highest[0]);
  }
}

plan gossip(const load_distribution& s) {
  validate(s);
  return simulate_protocol(s, gossip_protocol);
}

}  // namespace plaq::balance
