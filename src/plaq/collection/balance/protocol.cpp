#include "plaq/collection/balance/protocol.hpp"

#include <algorithm>
#include <deque>

#include "plaq/base/error.hpp"

namespace plaq::balance {

void reduced_values::add(const reduced_values& other) {
  for (std::size_t k = 0; k < sum.size(); ++k) {
    sum[k] += other.sum[k];
    highest[k] = std::max(highest[k], other.highest[k]);
  }
}

assignment::assignment(std::vector<element_info> all) {
  for (element_info& one : all) add(std::move(one));
}
void assignment::add(element_info fresh) {
  load += fresh.load;
  bytes += fresh.bytes;
  const element_id id = fresh.id;
  elements.insert_or_assign(id, std::move(fresh));
}
element_info assignment::take(element_id id) {
  element_info out = std::move(elements.extract(id).mapped());
  load -= out.load;
  bytes -= out.bytes;
  return out;
}
element_info* assignment::find(element_id id) {
  const auto found = elements.find(id);
  return found == elements.end() ? nullptr : &found->second;
}

protocol_message& participant::message_to(int to) {
  for (auto m = outgoing.rbegin(); m != outgoing.rend(); ++m)
    if (m->to == to) return *m;
  outgoing.push_back({.from = rank, .to = to});
  return outgoing.back();
}

void participant::keep_if_better(const assignment& assigned, double highest) {
  if (highest >= lowest) return;
  lowest = highest;
  best.clear();
  best_load = best_bytes = best_kept = 0;
  for (const auto& [id, e] : assigned.elements) {
    best.emplace_back(id, e.origin);
    best_load += e.load;
    best_bytes += e.bytes;
    if (e.origin == rank) best_kept += e.bytes;
  }
}

coroutine run_protocol(participant& self, protocol by) {
  assignment assigned(self.local);
  const double bytes = assigned.bytes;
  for (const element_info& e : self.local) self.own.highest[1] = std::max(self.own.highest[1], e.load);
  self.own.sum[0] = self.own.highest[0] = assigned.load;
  co_await next_round;
  if (!(self.reduced.sum[0] < too_much)) throw input_error("balance: the sum of all loads is too large");
  self.mean = self.reduced.sum[0] / self.ranks;
  self.before = self.reduced.highest[0];
  self.largest = self.reduced.highest[1];
  self.keep_if_better(assigned, self.before);  // the plan that moves nothing

  for (coroutine c = by(self, assigned); c.resume();) co_await next_round;

  for (const auto& [id, origin] : self.best)
    if (origin != self.rank) self.message_to(origin).content().updates.push_back({id, id, self.rank, 0, 0});
  const double leaving = bytes - self.best_kept, arriving = self.best_bytes - self.best_kept;
  self.own.highest = {self.best_load, leaving + arriving, self.seconds_per_byte};
  for (const auto& [id, origin] : self.best) self.own.sum[0] += origin != self.rank;
  self.own.sum[1] = arriving;
  co_await next_round;
  self.after = self.reduced.highest[0];
  self.most_moved_bytes = self.reduced.highest[1];
  self.seconds_per_byte = self.reduced.highest[2];
  self.moved = self.reduced.sum[0];
  self.moved_bytes = self.reduced.sum[1];
  for (const protocol_message& m : self.incoming)
    for (const peer_update& u : m.more->updates) self.moves.emplace_back(u.id, u.rank);
}

plan simulate_protocol(const load_distribution& s, protocol by) {
  std::deque<participant> ranks;
  std::vector<coroutine> coroutines;
  for (int r = 0; r < s.ranks; ++r)
    ranks.push_back({.rank = r, .ranks = s.ranks, .most_bytes = s.most_bytes, .local = {}});
  std::vector<element_info*> info(s.size());
  for (std::size_t i = 0; i < s.size(); ++i)
    ranks[std::size_t(s.rank_of[i])].local.push_back(
        {.id = i, .load = s.loads[i], .bytes = s.bytes_of(i), .origin = s.rank_of[i]});
  for (participant& p : ranks)
    for (element_info& e : p.local) info[e.id] = &e;
  for (const edge& e : s.edges)
    if (e.a != e.b) info[e.a]->peers.push_back({e.b, s.rank_of[e.b], 0, e.weight});
  for (participant& p : ranks) coroutines.push_back(run_protocol(p, by));

  std::vector<std::vector<protocol_message>> next(ranks.size());
  for (bool running = true; running;) {
    running = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      running = coroutines[r].resume() || running;
      for (protocol_message& m : ranks[r].outgoing) next[std::size_t(m.to)].push_back(std::move(m));
      ranks[r].outgoing.clear();
    }
    // In the order of the tree: a rank, then the ranks below it.
    for (std::size_t r = ranks.size(); r-- > 0;)
      for (std::size_t child = 2 * r + 1; child <= 2 * r + 2 && child < ranks.size(); ++child)
        ranks[r].own.add(ranks[child].own);
    const reduced_values reduced = ranks[0].own;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].reduced = reduced;
      ranks[r].own = {};
      ranks[r].incoming.swap(next[r]);
      next[r].clear();
    }
  }
  plan to = s.rank_of;
  for (const participant& p : ranks)
    for (const auto& [id, rank] : p.moves) to[id] = rank;
  return to;
}

}  // namespace plaq::balance
