// Balancing by flows of load between ranks whose elements communicate. See balancers.hpp.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>
#include <unordered_map>

#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/balance/protocol.hpp"

namespace plaq::balance {

namespace {

/// Neighbour ranks of a rank, and the load that is to flow to each (negative: from it).
struct neighbour_ranks {
  std::vector<int> ranks;
  std::vector<int> degree;    ///< number of neighbours of each
  std::vector<double> share;  ///< part of the difference of two loads that flows in a round
  std::vector<double> flow;
  int width = 0;  ///< distance between the ranks that are farthest apart

  explicit neighbour_ranks(std::vector<int> all)
      : ranks(std::move(all)), degree(ranks.size(), 0), share(ranks.size(), 0), flow(ranks.size(), 0) {}
  std::size_t index_of(int rank) const { return std::size_t(std::ranges::lower_bound(ranks, rank) - ranks.begin()); }
};

/// Ranks of the peers of elements, while both may be transferred.
class peer_locations {
 public:
  peer_locations(participant& self, assignment& assigned) : self_(self), assigned_(assigned) {}

  /// Exchanges locations between an element that has arrived and its peers on this rank.
  void add(element_info& arrived) {
    forwarding_.erase(arrived.id);
    for (peer& p : arrived.peers)
      if (element_info* local = assigned_.find(p.id)) {
        p.rank = self_.rank;
        p.transfers = local->transfers;
        apply(*local, {p.id, arrived.id, self_.rank, arrived.transfers, 0});
      }
  }
  /// Sends the location of an element that stays to its peers on other ranks. Updates from each rank that it passes
  /// would follow peers that move too: as many messages as the square of the distance.
  void announce(const element_info& stays) {
    for (const peer& p : stays.peers)
      if (!assigned_.find(p.id))
        self_.message_to(p.rank).content().updates.push_back({p.id, stays.id, self_.rank, stays.transfers, 0});
  }
  /// Updates the peers of an element that has been taken out and goes to `rank`.
  void remove(const element_info& leaving, int rank) {
    forwarding_[leaving.id] = rank;
    for (const peer& p : leaving.peers)
      if (element_info* local = assigned_.find(p.id)) apply(*local, {p.id, leaving.id, rank, leaving.transfers, 0});
  }
  /// Applies an update that has arrived, or forwards it.
  void receive(const peer_update& update) {
    if (element_info* local = assigned_.find(update.id))
      apply(*local, update);
    else if (const auto found = forwarding_.find(update.id); found != forwarding_.end())
      self_.message_to(found->second).content().updates.push_back(update);
  }

 private:
  /// Applies an update unless a later one came first.
  static void apply(element_info& to, const peer_update& update) {
    const auto found = std::ranges::lower_bound(to.peers, update.peer, {}, &peer::id);
    if (found->transfers < update.transfers) found->rank = update.rank, found->transfers = update.transfers;
  }
  participant& self_;
  assignment& assigned_;
  std::unordered_map<element_id, int> forwarding_;
};

/// Ranks of the peers of this rank's elements. Symmetric, since no update is in progress.
std::vector<int> ranks_of_peers(const participant& self, const assignment& assigned) {
  std::set<int> out;
  for (const auto& [id, e] : assigned.elements)
    for (const peer& p : e.peers) out.insert(p.rank);
  out.erase(self.rank);
  return {out.begin(), out.end()};
}

/// Makes peers mutual: the receiver of an element's messages gets it as a peer. Sorts peers by id.
coroutine make_peers_mutual(participant& self, assignment& assigned) {
  for (const auto& [id, e] : assigned.elements)
    for (const peer& p : e.peers)
      self.message_to(p.rank).content().updates.push_back({p.id, id, self.rank, 0, p.weight});
  co_await next_round;
  for (const protocol_message& m : self.incoming)
    for (const peer_update& u : m.more->updates) assigned.find(u.id)->peers.push_back({u.peer, u.rank, 0, u.weight});
  for (auto& [id, e] : assigned.elements) {
    std::ranges::sort(e.peers, {}, [](const peer& p) { return std::pair(p.id, p.weight); });
    std::vector<peer> merged;
    for (const peer& p : e.peers)
      if (!merged.empty() && merged.back().id == p.id)
        merged.back().weight += p.weight;
      else
        merged.push_back(p);
    e.peers = std::move(merged);
  }
}

/// Finds the degrees of the neighbours and the width: the distance of the least rank from the ranks farthest from it,
/// in each connected part. It is at least half of the distance of any two ranks, and nearly all of it in rows and
/// meshes of ranks.
coroutine find_width(participant& self, neighbour_ranks& c) {
  auto nearest = std::pair(self.rank, 0);  // the least rank known, and its distance
  bool changed = true;
  do {
    if (changed)
      for (const int neighbour : c.ranks)
        self.message_to(neighbour).numbers = {double(nearest.first), double(nearest.second), double(c.ranks.size())};
    self.own.sum[0] = changed;
    self.own.highest[0] = nearest.second;
    co_await next_round;
    changed = false;
    for (const protocol_message& m : self.incoming) {
      c.degree[c.index_of(m.from)] = int(m.numbers[2]);
      const auto through = std::pair(int(m.numbers[0]), int(m.numbers[1]) + 1);
      if (through < nearest) nearest = through, changed = true;
    }
    c.width = int(self.reduced.highest[0]);
  } while (self.reduced.sum[0] > 0);
  for (std::size_t k = 0; k < c.ranks.size(); ++k) c.share[k] = 1.0 / (std::max(int(c.ranks.size()), c.degree[k]) + 1);
}

/// Finds the flows that equalise loads, by the second order scheme. It uses the previous flows, so that load travels as
/// far in n rounds as by plain diffusion in n^2. Flows are differences of a potential of ranks, so they have no cycle.
coroutine find_flows(participant& self, neighbour_ranks& c, double load, int most_rounds) {
  const double relaxation = 2 / (1 + std::sin(std::numbers::pi / std::max(2, c.width)));
  const int rounds = std::min(16 + 4 * c.width, most_rounds);
  double rise = 0, potential = 0;
  for (int round = 0; round < rounds; ++round) {
    const double beta = round == 0 ? 1 : relaxation;
    rise = (beta - 1) * rise + beta * load;
    potential += rise;
    for (const int to : c.ranks) self.outgoing.push_back({.from = self.rank, .to = to, .numbers = {rise, 0, 0}});
    self.own.highest[0] = load;
    co_await next_round;
    for (const protocol_message& m : self.incoming) load -= c.share[c.index_of(m.from)] * (rise - m.numbers[0]);
    if (self.reduced.highest[0] <= 1.001 * self.mean) break;
  }
  for (const int to : c.ranks) self.outgoing.push_back({.from = self.rank, .to = to, .numbers = {potential, 0, 0}});
  co_await next_round;
  for (const protocol_message& m : self.incoming) {
    const std::size_t k = c.index_of(m.from);
    c.flow[k] = c.share[k] * (potential - m.numbers[0]);
  }
}

/// Offers elements of this rank along its flows: first those that communicate most with the receiving rank, among these
/// the largest that the flow carries. Half an element too much is as far from the flow as half too little.
void offer_elements(participant& self, assignment& assigned, peer_locations& locations, const neighbour_ranks& c) {
  double left = 0;
  for (std::size_t k = 0; k < c.ranks.size(); ++k) {
    const int rank = c.ranks[k];
    if (c.flow[k] <= 0) continue;
    left += c.flow[k];  // with what earlier neighbours could not take
    self.message_to(rank).numbers[0] = 1;
    std::vector<std::tuple<double, double, element_id>> candidates;
    for (const auto& [id, e] : assigned.elements) {
      if (e.load <= 0 || e.load / 2 > left) continue;
      double gain = 0;
      for (const peer& p : e.peers) gain += p.rank == rank ? p.weight : p.rank == self.rank ? -p.weight : 0;
      candidates.emplace_back(-gain, -e.load, id);
    }
    std::ranges::sort(candidates);
    for (const auto& [gain, load, id] : candidates) {
      if (-load / 2 > left) continue;
      element_info e = assigned.take(id);
      ++e.transfers;
      locations.remove(e, rank);
      left -= e.load;
      self.message_to(rank).content().elements.push_back(std::move(e));
    }
  }
}

/// Transfers elements along the flows. A rank offers its own once all flows to it have arrived.
coroutine transfer_elements(participant& self, assignment& assigned, const neighbour_ranks& c) {
  peer_locations locations(self, assigned);
  auto awaited = std::ranges::count_if(c.flow, [](double f) { return f < 0; });
  bool offered = false;
  std::vector<element_id> arrived;
  do {
    if (!offered && awaited == 0) {
      offer_elements(self, assigned, locations, c);
      offered = true;
    }
    if (offered) {
      for (const element_id id : arrived)
        if (const element_info* stays = assigned.find(id)) locations.announce(*stays);
      arrived.clear();
    }
    self.own.sum[0] = !offered;
    for (const protocol_message& m : self.outgoing)
      if (m.more) self.own.sum[0] += double(m.more->elements.size() + m.more->updates.size());
    co_await next_round;
    const bool over = self.reduced.sum[0] == 0;
    for (protocol_message& m : self.incoming) {
      if (m.numbers[0] == 1) --awaited;
      if (!m.more) continue;
      const std::size_t before = arrived.size();
      for (element_info& e : m.more->elements)
        if (m.numbers[0] != 1 || self.has_room(assigned, e)) {  // a refused element had room on its rank
          arrived.push_back(e.id);
          assigned.add(std::move(e));
        } else {
          ++e.transfers;
          locations.remove(e, m.from);
          self.message_to(m.from).content().elements.push_back(std::move(e));
        }
      for (std::size_t i = before; i < arrived.size(); ++i) locations.add(*assigned.find(arrived[i]));
    }
    for (const protocol_message& m : self.incoming)
      if (m.more)
        for (const peer_update& u : m.more->updates) locations.receive(u);
    if (over) break;
  } while (true);
}

/// Neighbours of a rank in a ring of all ranks.
neighbour_ranks ring_of(const participant& self) {
  std::set<int> ring{(self.rank + 1) % self.ranks, (self.rank + self.ranks - 1) % self.ranks};
  ring.erase(self.rank);
  neighbour_ranks out({ring.begin(), ring.end()});
  out.width = self.ranks / 2;
  std::ranges::fill(out.share, 1.0 / (double(out.ranks.size()) + 1));
  return out;
}

}  // namespace

coroutine diffusion_protocol(participant& self, assignment& assigned) {
  // The first iteration carries load over the distance; the others correct locally for the size of elements.
  constexpr int iterations = 4;
  for (coroutine r = make_peers_mutual(self, assigned); r.resume();) co_await next_round;
  for (int iteration = 0; iteration < iterations && self.lowest > 1.001 * self.mean; ++iteration) {
    neighbour_ranks c(ranks_of_peers(self, assigned));
    self.own.sum[0] = double(c.ranks.size());
    co_await next_round;
    if (self.reduced.sum[0] > 0)
      for (coroutine r = find_width(self, c); r.resume();) co_await next_round;
    else  // no elements communicate between ranks
      c = ring_of(self);
    const int most_rounds = iteration == 0 ? 400 : 64;
    for (coroutine r = find_flows(self, c, assigned.load, most_rounds); r.resume();) co_await next_round;
    for (coroutine r = transfer_elements(self, assigned, c); r.resume();) co_await next_round;
    self.own.highest[0] = assigned.load;
    co_await next_round;
    self.keep_if_better(assigned, self.reduced.highest[0]);
  }
}

plan diffusion(const load_distribution& s) {
  validate(s);
  return simulate_protocol(s, diffusion_protocol);
}

}  // namespace plaq::balance
