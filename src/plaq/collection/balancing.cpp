#include "plaq/collection/balancing.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <unordered_map>

#include "plaq/base/error.hpp"

namespace plaq {

namespace elements {

void need_sound(const balancing& how, load of, bool mesh) {
  const auto& by = balance::balancer_named(how.by);
  if (by.needs_points && !mesh) throw input_error("balancing by " + how.by + " needs elements that lie on a mesh");
  if (!(how.most_bytes >= 0)) throw input_error("balancing: most_bytes is not negative; 0 is no limit");
  if (how.ranks_per_node < 1) throw input_error("balancing: a node has at least one rank");
  if (how.only_if_it_pays && of != load::time)
    throw input_error("balancing: whether it pays is known of times only, and loads are counted work");
}

decision decide(const std::vector<std::pair<key, report>>& all, const balancing& how, int ranks,
                const std::function<std::uint64_t(key)>& position,
                const std::function<std::array<double, 3>(key)>& point, load_record* record) {
  balance::situation s{.ranks = ranks, .loads = {}, .where = {}};
  s.ranks_per_node = how.ranks_per_node;
  if (how.most_bytes > 0) s.most_bytes = how.most_bytes;
  std::unordered_map<key, std::size_t> number;
  std::vector<key> keys;
  double seconds_per_byte = 0;
  for (const auto& [at, of] : all) {
    number.emplace(at, s.loads.size());
    keys.push_back(at);
    s.loads.push_back(of.load);
    s.sizes.push_back(of.bytes);
    s.where.push_back(of.rank);
    s.positions.push_back(position(at));
    if (point) s.points.push_back(point(at));
    seconds_per_byte = std::max(seconds_per_byte, of.seconds_per_byte);
  }
  for (const auto& [at, of] : all)
    for (const auto& [to, bytes] : of.sent)
      if (const auto other = number.find(to); other != number.end())
        s.edges.push_back({number.at(at), other->second, bytes});

  auto to = balance::balancer_named(how.by).call(s);
  auto after = balance::judge(s, to);
  const auto before = balance::judge(s, s.where);
  if (how.only_if_it_pays) {
    std::vector<double> bytes(std::size_t(ranks), 0);  // that a rank packs or unpacks
    for (std::size_t i = 0; i < s.size(); ++i)
      if (to[i] != s.where[i]) bytes[std::size_t(to[i])] += s.sizes[i], bytes[std::size_t(s.where[i])] += s.sizes[i];
    if (before.highest - after.highest <= seconds_per_byte * *std::ranges::max_element(bytes)) to = s.where;
    after = balance::judge(s, to);
  }
  if (record) record->write(keys, s, how.by, to);
  decision out{{before.imbalance(), after.imbalance(), before.floor(), after.moved, after.moved_bytes}, {}};
  for (std::size_t i = 0; i < s.size(); ++i)
    if (to[i] != s.where[i]) out.moves.emplace_back(all[i].first, to[i]);
  return out;
}

balance::talk talk_of(const std::vector<std::pair<key, report>>& mine, const balancing& how, int rank, int ranks) {
  balance::talk out{.rank = rank, .ranks = ranks, .mine = {}};
  if (how.most_bytes > 0) out.most_bytes = how.most_bytes;
  for (const auto& [at, of] : mine) {
    balance::item one{.of = at, .load = of.load, .bytes = of.bytes, .from = rank};
    for (const auto& [to, bytes] : of.sent) one.peers.push_back({to, 0, 0, bytes});
    out.mine.push_back(std::move(one));
    out.price = std::max(out.price, of.seconds_per_byte);
  }
  std::ranges::sort(out.mine, {}, &balance::item::of);
  return out;
}

decision decided(const balance::talk& by, const balancing& how) {
  const auto over_mean = [&](double load) { return by.mean > 0 ? load / by.mean - 1 : 0; };
  decision out{
      {over_mean(by.before), over_mean(by.after), std::max(0.0, over_mean(by.largest)), by.moved, by.moved_bytes},
      by.moves};
  if (how.only_if_it_pays && by.before - by.after <= by.price * by.most_carried) {
    out.came_to.predicted = out.came_to.before;
    out.came_to.moved = out.came_to.moved_bytes = 0;
    out.moves.clear();
  }
  return out;
}

}  // namespace elements

std::string in_words(const balanced& what) {
  std::ostringstream out;
  out << std::setprecision(3) << "I = " << what.before;
  if (!std::isnan(what.expected)) out << " (" << what.expected << " was predicted)";
  out << ", now " << what.predicted << " is, at least " << what.floor << "; " << std::setprecision(15) << what.moved
      << " elements move, " << std::setprecision(3) << what.moved_bytes << " bytes";
  return out.str();
}

}  // namespace plaq
