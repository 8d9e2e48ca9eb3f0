// Balancing by flows between ranks whose elements talk to each other. See balancers.hpp.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>
#include <unordered_map>

#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/balance/talk.hpp"

namespace plaq::balance {

namespace {

/// The ranks beside this one, and how much load is to go there; from there, where it is negative.
struct channels {
  std::vector<int> to;
  std::vector<int> degree;    ///< how many channels they have
  std::vector<double> share;  ///< of the difference of two loads, that flows in a round
  std::vector<double> flow;
  int across = 0;  ///< how many channels the ranks are apart that are far apart

  explicit channels(std::vector<int> ranks)
      : to(std::move(ranks)), degree(to.size(), 0), share(to.size(), 0), flow(to.size(), 0) {}
  std::size_t number_of(int rank) const { return std::size_t(std::ranges::lower_bound(to, rank) - to.begin()); }
};

/// Which elements are where, of those that talk to elements of this rank, while both may go elsewhere.
class whereabouts {
 public:
  whereabouts(talk& t, holding& have) : t_(t), have_(have) {}

  /// An element that is here now, and its peers, get to know of each other.
  void has_come(item& one) {
    gone_.erase(one.of);
    for (peer& p : one.peers)
      if (item* here = have_.find(p.of)) {
        p.rank = t_.rank;
        p.hands = here->hands;
        told(*here, {p.of, one.of, t_.rank, one.hands, 0});
      } else {
        t_.say(p.rank).rest().notes.push_back({p.of, one.of, t_.rank, one.hands, 0});
      }
  }
  /// One that goes from here, after it has been taken out.
  void goes(const item& one, int rank) {
    gone_[one.of] = rank;
    for (const peer& p : one.peers)
      if (item* here = have_.find(p.of)) told(*here, {p.of, one.of, rank, one.hands, 0});
  }
  void heard(const note& of) {
    if (item* here = have_.find(of.of))
      told(*here, of);
    else if (const auto found = gone_.find(of.of); found != gone_.end())
      t_.say(found->second).rest().notes.push_back(of);
  }

 private:
  /// Later news may have come first.
  static void told(item& who, const note& of) {
    const auto found = std::ranges::lower_bound(who.peers, of.other, {}, &peer::of);
    if (found->hands < of.hands) found->rank = of.rank, found->hands = of.hands;
  }
  talk& t_;
  holding& have_;
  std::unordered_map<id, int> gone_;
};

/// The same on both sides, since all is quiet that tells where elements are.
std::vector<int> ranks_beside(const talk& t, const holding& have) {
  std::set<int> out;
  for (const auto& [of, one] : have.items)
    for (const peer& p : one.peers) out.insert(p.rank);
  out.erase(t.rank);
  return {out.begin(), out.end()};
}

/// Who sends to whom is known to the sender; from here on to both, by id.
speech make_peers_mutual(talk& t, holding& have) {
  for (const auto& [of, one] : have.items)
    for (const peer& p : one.peers) t.say(p.rank).rest().notes.push_back({p.of, of, t.rank, 0, p.weight});
  co_await round_ends;
  for (const said& from : t.heard)
    for (const note& one : from.with->notes) have.find(one.of)->peers.push_back({one.other, one.rank, 0, one.weight});
  for (auto& [of, one] : have.items) {
    std::ranges::sort(one.peers, {}, [](const peer& p) { return std::pair(p.of, p.weight); });
    std::vector<peer> merged;
    for (const peer& p : one.peers)
      if (!merged.empty() && merged.back().of == p.of)
        merged.back().weight += p.weight;
      else
        merged.push_back(p);
    one.peers = std::move(merged);
  }
}

/// Degrees of the neighbours, and how far the least rank is from those farthest from it, where they are joined at
/// all: at least half of how far any two are apart, in rows and meshes of ranks nearly all of it.
speech find_width(talk& t, channels& c) {
  auto nearest = std::pair(t.rank, 0);  // the least rank that is heard of, and how far it is
  bool news = true;
  do {
    if (news)
      for (const int beside : c.to)
        t.say(beside).numbers = {double(nearest.first), double(nearest.second), double(c.to.size())};
    t.own.sum[0] = news;
    t.own.highest[0] = nearest.second;
    co_await round_ends;
    news = false;
    for (const said& one : t.heard) {
      c.degree[c.number_of(one.from)] = int(one.numbers[2]);
      const auto by_it = std::pair(int(one.numbers[0]), int(one.numbers[1]) + 1);
      if (by_it < nearest) nearest = by_it, news = true;
    }
    c.across = int(t.all.highest[0]);
  } while (t.all.sum[0] > 0);
  for (std::size_t k = 0; k < c.to.size(); ++k) c.share[k] = 1.0 / (std::max(int(c.to.size()), c.degree[k]) + 1);
}

/// What has to flow so that loads become alike: the second order scheme, which remembers its last flows, so that
/// load comes as far in n rounds as by plain diffusion in n^2. Flows are differences of a height that ranks have,
/// so they run in no circle.
speech find_flows(talk& t, channels& c, double load, int most_rounds) {
  const double memory = 2 / (1 + std::sin(std::numbers::pi / std::max(2, c.across)));
  const int rounds = std::min(16 + 4 * c.across, most_rounds);
  double rise = 0, height = 0;
  for (int round = 0; round < rounds; ++round) {
    const double beta = round == 0 ? 1 : memory;
    rise = (beta - 1) * rise + beta * load;
    height += rise;
    for (const int beside : c.to) t.out.push_back({.from = t.rank, .to = beside, .numbers = {rise, 0, 0}});
    t.own.highest[0] = load;
    co_await round_ends;
    for (const said& one : t.heard) load -= c.share[c.number_of(one.from)] * (rise - one.numbers[0]);
    if (t.all.highest[0] <= 1.001 * t.mean) break;
  }
  for (const int beside : c.to) t.out.push_back({.from = t.rank, .to = beside, .numbers = {height, 0, 0}});
  co_await round_ends;
  for (const said& one : t.heard) {
    const std::size_t k = c.number_of(one.from);
    c.flow[k] = c.share[k] * (height - one.numbers[0]);
  }
}

/// Elements that this rank gives along its flows: those that talk most to where they go, among these the largest
/// that the flow carries. Half an element too many is as far from the flow as half too few.
void give(talk& t, holding& have, whereabouts& where, const channels& c) {
  double left = 0;
  for (std::size_t k = 0; k < c.to.size(); ++k) {
    if (c.flow[k] <= 0) continue;
    left += c.flow[k];  // with what the channels before could not carry
    t.say(c.to[k]).numbers[0] = 1;
    std::vector<std::tuple<double, double, id>> willing;
    for (const auto& [of, one] : have.items) {
      if (one.load <= 0 || one.load / 2 > left) continue;
      double gain = 0;
      for (const peer& p : one.peers) gain += p.rank == c.to[k] ? p.weight : p.rank == t.rank ? -p.weight : 0;
      willing.emplace_back(-gain, -one.load, of);
    }
    std::ranges::sort(willing);
    for (const auto& [gain, load, of] : willing) {
      if (-load / 2 > left) continue;
      item one = have.take(of);
      ++one.hands;
      where.goes(one, c.to[k]);
      left -= one.load;
      t.say(c.to[k]).rest().items.push_back(std::move(one));
    }
  }
}

/// Elements along the flows. A rank gives once all that flows to it has come.
speech let_flow(talk& t, holding& have, const channels& c) {
  whereabouts where(t, have);
  auto awaited = std::ranges::count_if(c.flow, [](double f) { return f < 0; });
  bool given = false;
  do {
    if (!given && awaited == 0) {
      give(t, have, where, c);
      given = true;
    }
    t.own.sum[0] = !given;
    for (const said& one : t.out)
      if (one.with) t.own.sum[0] += double(one.with->items.size() + one.with->notes.size());
    co_await round_ends;
    const bool over = t.all.sum[0] == 0;
    for (said& one : t.heard) {
      if (one.numbers[0] == 1) --awaited;
      if (!one.with) continue;
      std::vector<id> came;
      for (item& offered : one.with->items)
        if (one.numbers[0] != 1 || t.has_room(have, offered)) {  // what comes back had room before
          came.push_back(offered.of);
          have.add(std::move(offered));
        } else {
          ++offered.hands;
          where.goes(offered, one.from);
          t.say(one.from).rest().items.push_back(std::move(offered));
        }
      for (const id of : came) where.has_come(*have.find(of));
    }
    for (const said& one : t.heard)
      if (one.with)
        for (const note& of : one.with->notes) where.heard(of);
    if (over) break;
  } while (true);
}

}  // namespace

speech diffusion_of(talk& t, holding& have) {
  constexpr int times =
      4;  // the first brings load where it lacks, the others mend nearby what elements are too coarse for
  for (speech s = make_peers_mutual(t, have); s.resume();) co_await round_ends;
  for (int time = 0; time < times && t.lowest > 1.001 * t.mean; ++time) {
    channels c(ranks_beside(t, have));
    t.own.sum[0] = double(c.to.size());
    co_await round_ends;
    if (t.all.sum[0] > 0) {
      for (speech s = find_width(t, c); s.resume();) co_await round_ends;
    } else {  // nobody talks: the ranks are a ring
      std::set<int> ring{(t.rank + 1) % t.ranks, (t.rank + t.ranks - 1) % t.ranks};
      ring.erase(t.rank);
      c = channels({ring.begin(), ring.end()});
      c.across = t.ranks / 2;
      std::ranges::fill(c.share, 1.0 / (double(c.to.size()) + 1));
    }
    for (speech s = find_flows(t, c, have.load, time == 0 ? 400 : 64); s.resume();) co_await round_ends;
    for (speech s = let_flow(t, have, c); s.resume();) co_await round_ends;
    t.own.highest[0] = have.load;
    co_await round_ends;
    t.judge(have, t.all.highest[0]);
  }
}

plan diffusion(const situation& s) {
  need_sound(s);
  return in_turns(s, diffusion_of);
}

}  // namespace plaq::balance
