#include "plaq/collection/balance/talk.hpp"

#include <algorithm>
#include <deque>

#include "plaq/base/error.hpp"

namespace plaq::balance {

void together::add(const together& other) {
  for (std::size_t k = 0; k < sum.size(); ++k) {
    sum[k] += other.sum[k];
    highest[k] = std::max(highest[k], other.highest[k]);
  }
}

holding::holding(std::vector<item> all) {
  for (item& one : all) add(std::move(one));
}
void holding::add(item one) {
  load += one.load;
  bytes += one.bytes;
  const id of = one.of;
  items.insert_or_assign(of, std::move(one));
}
item holding::take(id which) {
  item out = std::move(items.extract(which).mapped());
  load -= out.load;
  bytes -= out.bytes;
  return out;
}
item* holding::find(id which) {
  const auto found = items.find(which);
  return found == items.end() ? nullptr : &found->second;
}

said& talk::say(int to) {
  for (auto one = out.rbegin(); one != out.rend(); ++one)
    if (one->to == to) return *one;
  out.push_back({.from = rank, .to = to});
  return out.back();
}

void talk::judge(const holding& have, double highest) {
  if (highest >= lowest) return;
  lowest = highest;
  best.clear();
  best_load = best_bytes = best_kept = 0;
  for (const auto& [of, one] : have.items) {
    best.emplace_back(of, one.from);
    best_load += one.load;
    best_bytes += one.bytes;
    if (one.from == rank) best_kept += one.bytes;
  }
}

speech whole(talk& t, method by) {
  holding have(t.mine);
  const double bytes = have.bytes;
  for (const item& one : t.mine) t.own.highest[1] = std::max(t.own.highest[1], one.load);
  t.own.sum[0] = t.own.highest[0] = have.load;
  co_await round_ends;
  if (!(t.all.sum[0] < too_much)) throw input_error("balance: all loads together are too much to be added");
  t.mean = t.all.sum[0] / t.ranks;
  t.before = t.all.highest[0];
  t.largest = t.all.highest[1];
  t.judge(have, t.before);  // nothing moves

  for (speech method = by(t, have); method.resume();) co_await round_ends;

  for (const auto& [of, from] : t.best)
    if (from != t.rank) t.say(from).rest().notes.push_back({of, of, t.rank, 0, 0});
  const double gone = bytes - t.best_kept, comes = t.best_bytes - t.best_kept;
  t.own.highest = {t.best_load, gone + comes, t.price};
  for (const auto& [of, from] : t.best) t.own.sum[0] += from != t.rank;
  t.own.sum[1] = comes;
  co_await round_ends;
  t.after = t.all.highest[0];
  t.most_carried = t.all.highest[1];
  t.price = t.all.highest[2];
  t.moved = t.all.sum[0];
  t.moved_bytes = t.all.sum[1];
  for (const said& from : t.heard)
    for (const note& one : from.with->notes) t.moves.emplace_back(one.of, one.rank);
}

plan in_turns(const situation& s, method by) {
  std::deque<talk> ranks;
  std::vector<speech> speeches;
  for (int r = 0; r < s.ranks; ++r)
    ranks.push_back({.rank = r, .ranks = s.ranks, .most_bytes = s.most_bytes, .mine = {}});
  std::vector<item*> of(s.size());
  for (std::size_t i = 0; i < s.size(); ++i)
    ranks[std::size_t(s.where[i])].mine.push_back(
        {.of = i, .load = s.loads[i], .bytes = s.bytes_of(i), .from = s.where[i]});
  for (talk& t : ranks)
    for (item& one : t.mine) of[one.of] = &one;
  for (const edge& e : s.edges)
    if (e.a != e.b) of[e.a]->peers.push_back({e.b, s.where[e.b], 0, e.weight});
  for (talk& t : ranks) speeches.push_back(whole(t, by));

  std::vector<std::vector<said>> next(ranks.size());
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      goes_on = speeches[r].resume() || goes_on;
      for (said& one : ranks[r].out) next[std::size_t(one.to)].push_back(std::move(one));
      ranks[r].out.clear();
    }
    // As the tree adds: a rank, then those below it.
    for (std::size_t r = ranks.size(); r-- > 0;)
      for (std::size_t child = 2 * r + 1; child <= 2 * r + 2 && child < ranks.size(); ++child)
        ranks[r].own.add(ranks[child].own);
    const together all = ranks[0].own;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].all = all;
      ranks[r].own = {};
      ranks[r].heard.swap(next[r]);
      next[r].clear();
    }
  }
  plan to = s.where;
  for (const talk& t : ranks)
    for (const auto& [which, rank] : t.moves) to[which] = rank;
  return to;
}

}  // namespace plaq::balance
