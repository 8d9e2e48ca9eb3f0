// Balancing by hearsay. See balancers.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/balance/talk.hpp"

namespace plaq::balance {

namespace {

/// Ranks and their loads, by rank.
using hearsay = std::vector<std::pair<int, double>>;
constexpr std::size_t memory = 64;  // ranks that one remembers, so that knowledge stays small on many

/// What is news in `says` is added; some of all where it is too much, others than other ranks keep. False where
/// nothing is.
bool learn(hearsay& knows, const hearsay& says, int who) {
  if (knows.size() == memory) return false;
  hearsay both;
  std::ranges::set_union(knows, says, std::back_inserter(both), {}, &hearsay::value_type::first,
                         &hearsay::value_type::first);
  if (both.size() > memory) {
    const auto dice = [&](const auto& one) {
      return (std::uint64_t(one.first) + 1) * (2 * std::uint64_t(who) + 1) * 0x9e3779b97f4a7c15u;
    };
    std::ranges::nth_element(both, both.begin() + memory, {}, dice);
    both.resize(memory);
    std::ranges::sort(both);
  }
  const bool news = both.size() > knows.size();
  if (news) knows = std::move(both);
  return news;
}

/// Who gets an element of that load: with a chance that grows with what a rank has less than the one that has most
/// of those known. `dice` in [0, 1).
std::size_t pick(const hearsay& known, double mean, double dice) {
  double most = mean, all = 0;
  for (const auto& [rank, load] : known) most = std::max(most, load);
  const auto chance = [&](std::size_t k) { return 1 - known[k].second / (most * (1 + 1e-9)); };
  for (std::size_t k = 0; k < known.size(); ++k) all += chance(k);
  double left = dice * all;
  std::size_t taker = 0;
  for (std::size_t k = 0; k < known.size() && left >= 0; ++k) {
    taker = k;
    left -= chance(k);
  }
  return taker;
}

}  // namespace

speech gossip_of(talk& t, holding& have) {
  constexpr int iterations = 8, fan_out = 4;
  const int hops = int(std::ceil(std::log2(double(t.ranks) + 1)));
  for (int iteration = 0; iteration < iterations && t.lowest > 1.001 * t.mean; ++iteration) {
    const auto draw = [&](int purpose, std::uint64_t index) {
      return random_words(
          {.seed = 0x676f7373, .i = std::uint32_t(t.rank), .j = std::uint32_t(purpose), .k = std::uint32_t(iteration)},
          index)[0];
    };
    // Who has news passes it on once.
    hearsay known;
    if (have.load < t.mean) known.emplace_back(t.rank, have.load);
    bool news = !known.empty();
    for (int hop = 0; hop < hops; ++hop) {
      for (int k = 0; news && k < fan_out; ++k)
        if (const int to = int(below(draw(hop, std::uint64_t(k)), std::uint64_t(t.ranks))); to != t.rank)
          t.say(to).rest().loads = known;
      t.own.sum[0] = news;
      co_await round_ends;
      if (t.all.sum[0] == 0) break;
      news = false;
      for (const said& one : t.heard) news = learn(known, one.with->loads, t.rank) || news;
    }

    std::erase_if(known, [&](const auto& one) { return one.first == t.rank; });
    if (have.load > t.mean && !known.empty()) {
      std::vector<std::pair<double, id>> heavy;
      for (const auto& [of, one] : have.items)
        if (one.load > 0) heavy.emplace_back(-one.load, of);
      std::ranges::sort(heavy);
      for (std::uint64_t k = 0; k < heavy.size() && have.load > t.mean; ++k) {
        auto& [taker, load] = known[pick(known, t.mean, unit_interval(draw(1000, k)))];
        const double of_it = -heavy[k].first;
        if (load + of_it >= have.load) continue;
        auto& to = t.say(taker);
        to.numbers[0] = have.load;
        to.rest().items.push_back(have.take(heavy[k].second));
        load += of_it;
      }
    }
    co_await round_ends;
    // A taker ends below the giver, who did not know what others give.
    for (said& one : t.heard)
      for (item& offered : one.with->items)
        if (have.load + offered.load < one.numbers[0] && t.has_room(have, offered))
          have.add(std::move(offered));
        else
          t.say(one.from).rest().items.push_back(std::move(offered));
    co_await round_ends;
    for (said& one : t.heard)
      for (item& refused : one.with->items) have.add(std::move(refused));
    t.own.highest[0] = have.load;
    co_await round_ends;
    t.judge(have, t.all.highest[0]);
  }
}

plan gossip(const situation& s) {
  need_sound(s);
  return in_turns(s, gossip_of);
}

}  // namespace plaq::balance
