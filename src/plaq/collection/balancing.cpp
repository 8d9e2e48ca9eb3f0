#include "plaq/collection/balancing.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <unordered_map>

#include "plaq/base/error.hpp"

namespace plaq {

namespace elements {

void validate(const balance_options& options, load of, bool mesh) {
  const auto& by = balance::balancer_named(options.by);
  if (by.needs_points && !mesh) throw input_error("balancing by " + options.by + " needs elements that lie on a mesh");
  if (!(options.most_bytes >= 0)) throw input_error("balancing: most_bytes must not be negative; 0 means no limit");
  if (options.ranks_per_node < 1) throw input_error("balancing: ranks_per_node must be at least 1");
  if (options.only_if_it_pays && of != load::time)
    throw input_error("balancing: only_if_it_pays needs loads in times, and these are counted work");
}

reductions::outcome packed_by_rank(const migration_plan& what) {
  reductions::outcome out;
  archive::pack(what.result, out.bytes);
  for (const auto& [rank, moves] : what.moves) {
    out.of_ranks.emplace_back(rank, std::vector<std::byte>());
    archive::pack(moves, out.of_ranks.back().second);
  }
  return out;
}

migration_plan plan_migration(const element_reports& all, const balance_options& options, int ranks,
                              const std::function<std::uint64_t(key)>& position,
                              const std::function<std::array<double, 3>(key)>& point, load_record* record) {
  balance::load_distribution s{.ranks = ranks, .loads = {}, .rank_of = {}};
  s.ranks_per_node = options.ranks_per_node;
  if (options.most_bytes > 0) s.most_bytes = options.most_bytes;
  std::unordered_map<key, std::size_t> number;
  std::vector<key> keys;
  double seconds_per_byte = 0;
  for (const auto& [id, of] : all) {
    number.emplace(id, s.loads.size());
    keys.push_back(id);
    s.loads.push_back(of.load);
    s.sizes.push_back(of.bytes);
    s.rank_of.push_back(of.rank);
    s.positions.push_back(position(id));
    if (point) s.points.push_back(point(id));
    seconds_per_byte = std::max(seconds_per_byte, of.seconds_per_byte);
  }
  for (const auto& [id, of] : all)
    for (const auto& [to, bytes] : of.sent)
      if (const auto other = number.find(to); other != number.end())
        s.edges.push_back({number.at(id), other->second, bytes});

  auto to = balance::balancer_named(options.by).call(s);
  auto after = balance::evaluate(s, to);
  const auto before = balance::evaluate(s, s.rank_of);
  if (options.only_if_it_pays) {
    std::vector<double> bytes(std::size_t(ranks), 0);  // packed or unpacked by a rank
    for (std::size_t i = 0; i < s.size(); ++i)
      if (to[i] != s.rank_of[i])
        bytes[std::size_t(to[i])] += s.sizes[i], bytes[std::size_t(s.rank_of[i])] += s.sizes[i];
    if (before.highest - after.highest <= seconds_per_byte * *std::ranges::max_element(bytes)) to = s.rank_of;
    after = balance::evaluate(s, to);
  }
  if (record) record->write(keys, s, options.by, to);
  migration_plan out{{before.imbalance(), after.imbalance(), before.floor(), after.moved, after.moved_bytes}, {}};
  for (std::size_t i = 0; i < s.size(); ++i)
    if (to[i] != s.rank_of[i]) out.moves[s.rank_of[i]].emplace_back(all[i].first, to[i]);
  return out;
}

balance::participant make_participant(const element_reports& own, const balance_options& options, int rank, int ranks) {
  balance::participant out{.rank = rank, .ranks = ranks, .local = {}};
  if (options.most_bytes > 0) out.most_bytes = options.most_bytes;
  for (const auto& [id, of] : own) {
    balance::element_info e{.id = id, .load = of.load, .bytes = of.bytes, .origin = rank};
    for (const auto& [to, bytes] : of.sent) e.peers.push_back({to, 0, 0, bytes});
    out.local.push_back(std::move(e));
    out.seconds_per_byte = std::max(out.seconds_per_byte, of.seconds_per_byte);
  }
  std::ranges::sort(out.local, {}, &balance::element_info::id);
  return out;
}

migration migration_of(const balance::participant& by, const balance_options& options) {
  const auto over_mean = [&](double load) { return by.mean > 0 ? load / by.mean - 1 : 0; };
  migration out{
      {over_mean(by.before), over_mean(by.after), std::max(0.0, over_mean(by.largest)), by.moved, by.moved_bytes},
      by.moves};
  if (options.only_if_it_pays && by.before - by.after <= by.seconds_per_byte * by.most_moved_bytes) {
    out.result.predicted = out.result.before;
    out.result.moved = out.result.moved_bytes = 0;
    out.moves.clear();
  }
  return out;
}

}  // namespace elements

std::string in_words(const balance_result& what) {
  std::ostringstream out;
  out << std::setprecision(3) << "I = " << what.before;
  if (!std::isnan(what.expected)) out << " (" << what.expected << " was predicted)";
  out << ", now " << what.predicted << " is, at least " << what.floor << "; " << std::setprecision(15) << what.moved
      << " elements move, " << std::setprecision(3) << what.moved_bytes << " bytes";
  return out.str();
}

}  // namespace plaq
