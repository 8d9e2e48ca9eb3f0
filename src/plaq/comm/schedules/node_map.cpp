#include "plaq/comm/schedules/node_map.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace plaq::comm {

node_map::node_map(std::span<const int> node_of, bool oversubscribed)
    : ranks_(int(node_of.size())), oversubscribed_(oversubscribed) {
  std::map<int, int> first;  // node -> its lowest rank
  for (int r = 0; r < ranks_; ++r) first.try_emplace(node_of[r], r);
  std::vector<int> order(ranks_);
  for (int r = 0; r < ranks_; ++r) order[r] = r;
  std::ranges::stable_sort(order, {}, [&](int r) { return first[node_of[r]]; });
  for (int i = 0; i < ranks_; ++i)
    if (i == 0 || node_of[order[i]] != node_of[order[i - 1]]) node_begin_.push_back(i);
  if (std::ranges::is_sorted(order)) return;
  position_of_.resize(ranks_);
  for (int i = 0; i < ranks_; ++i) position_of_[order[i]] = i;
  rank_at_ = std::move(order);
}

int node_map::node_from(int position) const {
  if (per_node_ > 0) return std::min((position + per_node_ - 1) / per_node_, nodes());
  return int(std::ranges::lower_bound(node_begin_, position) - node_begin_.begin());
}

std::vector<range> node_map::split(range whole, int parts) const {
  if (whole.size() == 0) return {};
  if (parts >= whole.size()) {
    std::vector<range> single;
    for (int i = whole.begin; i < whole.end; ++i) single.push_back({i, i + 1});
    return single;
  }
  // Nodes that begin strictly inside the range.
  const int low = node_from(whole.begin + 1), high = node_from(whole.end);
  const int step = int(std::bit_ceil(unsigned((whole.size() - 1) / parts + 1)));
  std::vector<range> out;
  int begin = whole.begin;
  for (int i = 1; i < parts; ++i) {
    int end = begin / step * step + step;
    if (low < high) {
      const int wanted = whole.begin + int(std::int64_t(whole.size()) * i / parts);
      int node = std::clamp(node_from(wanted), low, high);
      if (node == high || (node != low && wanted - first_of(node - 1) < first_of(node) - wanted)) --node;
      end = first_of(node);
    }
    if (end <= begin || end >= whole.end) continue;
    out.push_back({begin, end});
    begin = end;
  }
  out.push_back({begin, whole.end});
  return out;
}

namespace {

/// Ranges of the children of a leader whose subtree is `members`, at most `arity`, but two of a leader in the middle of
/// its members.
std::vector<range> children_of(const node_map& map, range members, int leader, int arity) {
  const range left{members.begin, leader}, right{leader + 1, members.end};
  if (left.size() == 0) return map.split(right, arity);
  if (right.size() == 0) return map.split(left, arity);
  const int share = int(std::int64_t(arity) * left.size() / (members.size() - 1));
  const int to_left = std::clamp(share, 1, std::max(1, arity - 1));
  auto parts = map.split(left, to_left);
  const auto more = map.split(right, std::max(1, arity - to_left));
  parts.insert(parts.end(), more.begin(), more.end());
  return parts;
}

}  // namespace

tree_node find_tree_node(const node_map& map, shape form, int arity, int root, int position) {
  tree_node found{-1, {0, map.size()}, {}};
  range members = found.members;
  int leader = root;
  while (members.size() > 1) {
    const auto parts = form == shape::nomial ? map.split(members, std::max(2, arity))
                                             : children_of(map, members, leader, std::max(1, arity));
    range next{};
    for (const auto& part : parts) {
      if (part.contains(leader)) {
        if (part.contains(position)) next = part;
      } else if (position == leader) {
        found.children.push_back({part.begin, part});
      } else if (part.contains(position)) {
        found.parent = leader;
        found.members = next = part;
      }
    }
    if (next.size() == 0) break;
    if (!next.contains(leader)) leader = next.begin;
    members = next;
  }
  return found;
}

}  // namespace plaq::comm
