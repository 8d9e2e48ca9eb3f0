// Collective algorithms on trees whose subtrees are ranges of positions. Blocks of a subtree are contiguous, partial
// sums combine in the order of ranks, and ranks are not renumbered for any root.
#include <utility>

#include "plaq/comm/schedules/algorithm_parts.hpp"

namespace plaq::comm {

namespace {

tree_node tree_node_of(const algorithm_context& s) {
  const auto form = s.by.how == algorithm::chain ? shape::fixed : shape::nomial;
  return find_tree_node(s.map, form, s.by.arity, s.map.position_of(s.wanted.root), s.me);
}

/// Number of segments of a child in flight, while one is combined.
constexpr std::size_t segments_in_progress = 3;

void pass_down(const algorithm_context& s, const tree_node& tree, std::size_t begin, std::size_t n) {
  if (tree.parent >= 0) s.receive(tree.parent, s.output(begin), n);
  for (const auto& c : tree.children) s.send(c.leader, s.output(begin), n);
}

/// Scatters the blocks of `whole` of the root.
void scatter_blocks(const algorithm_context& s, location whole) {
  const auto tree = tree_node_of(s);
  const std::size_t n = s.blocks({s.me, s.me + 1});
  const bool root = tree.parent < 0;
  if (tree.children.empty() && !root) return s.receive(tree.parent, s.output(), n);
  const location all = root ? whole : s.steps.allocate(s.blocks(tree.members));
  const auto at = [&](int position) { return all + s.blocks({tree.members.begin, position}); };
  if (!root) s.receive(tree.parent, all, s.blocks(tree.members));
  for (const auto& c : tree.children) s.send(c.leader, at(c.members.begin), s.blocks(c.members));
  s.steps.copy(s.output(), at(s.me), n);
}

}  // namespace

void broadcast_by_tree(const algorithm_context& s) {
  const auto tree = tree_node_of(s);
  for (std::size_t begin = 0; begin < s.wanted.bytes; begin += s.segment())
    pass_down(s, tree, begin, std::min(s.segment(), s.wanted.bytes - begin));
}

void reduce_by_tree(const algorithm_context& s, location from, location to, bool then_broadcast) {
  const auto tree = tree_node_of(s);
  const auto how = s.summation();
  const std::size_t bytes = s.wanted.bytes, segment = s.segment();
  if (bytes == 0) return;
  const auto first = [&](int position) {
    return s.wanted.first_piece.empty() ? std::int64_t(position) : s.wanted.first_piece[position];
  };
  const auto parts_of_range = [&](range r) { return parts_of(how, first(r.begin), first(r.end)); };

  // The parts of a segment arrive from a child as one message, in one of a few slots.
  const std::size_t slots = std::min(segments_in_progress, (bytes + segment - 1) / segment);
  std::vector<std::vector<part_of_sum>> of_child;
  std::vector<location> slot;
  for (const auto& c : tree.children) {
    of_child.push_back(parts_of_range(c.members));
    for (std::size_t i = 0; i < slots; ++i) slot.push_back(s.steps.allocate(of_child.back().size() * segment));
  }
  const std::size_t to_parent = tree.parent < 0 ? 0 : parts_of_range(tree.members).size();
  const location message = to_parent > 1 ? s.steps.allocate(to_parent * segment) : location{};

  std::size_t number = 0;
  for (std::size_t begin = 0; begin < bytes; begin += segment, ++number) {
    const std::size_t n = std::min(segment, bytes - begin);
    std::vector<part_of_sum> parts;
    for (auto i = first(s.me); i < first(s.me + 1); ++i)
      parts.push_back({i, i + 1, from + std::size_t(i - first(s.me)) * bytes + begin, from.where != memory::input});
    for (std::size_t c = 0; c < tree.children.size(); ++c) {
      const location arrived = slot[c * slots + number % slots];
      s.receive(tree.children[c].leader, arrived, of_child[c].size() * n);
      for (std::size_t i = 0; i < of_child[c].size(); ++i)
        parts.push_back({of_child[c][i].begin, of_child[c][i].end, arrived + i * n, true});
    }
    if (parts.empty()) continue;  // a subtree without pieces
    if (tree.parent < 0) {
      merge(s.steps, how, std::move(parts), n, to + begin);
    } else if (to_parent == 1) {
      s.send(tree.parent, merge(s.steps, how, std::move(parts), n, {})[0].at, n);
    } else {
      const auto left = merge(s.steps, how, std::move(parts), n, {});
      for (std::size_t i = 0; i < left.size(); ++i) s.steps.copy(message + i * n, left[i].at, n);
      s.send(tree.parent, message, left.size() * n);
    }
    if (then_broadcast) pass_down(s, tree, begin, n);
  }
  // Subtrees without pieces take part in the broadcast.
  if (then_broadcast && first(tree.members.begin) == first(tree.members.end)) broadcast_by_tree(s);
}

void gather_by_tree(const algorithm_context& s) {
  const auto tree = tree_node_of(s);
  const std::size_t n = s.blocks({s.me, s.me + 1});
  const bool root = tree.parent < 0;
  if (tree.children.empty() && !root) return s.send(tree.parent, s.input(), n);
  // The blocks of the subtree in their order: at the root its output, elsewhere what the parent gets.
  const location all = root ? s.output() : s.steps.allocate(s.blocks(tree.members));
  const auto at = [&](int position) { return all + s.blocks({tree.members.begin, position}); };
  s.steps.copy(at(s.me), s.input(), n);
  for (const auto& c : tree.children) s.receive(c.leader, at(c.members.begin), s.blocks(c.members));
  if (!root) s.send(tree.parent, all, s.blocks(tree.members));
}

void scatter_by_tree(const algorithm_context& s) { scatter_blocks(s, s.input()); }

void reduce_scatter_by_tree(const algorithm_context& s) {
  request whole = s.wanted;
  whole.bytes = s.block(s.size());
  const location sum = s.me == s.map.position_of(whole.root) ? s.steps.allocate(whole.bytes) : location{};
  reduce_by_tree({whole, s.by, s.map, s.me, s.steps}, s.input(), sum, false);
  scatter_blocks(s, sum);
}

void all_gather_by_tree(const algorithm_context& s) {
  const auto tree = tree_node_of(s);
  // Every rank has a buffer for all blocks, so subtrees are gathered in place.
  s.steps.copy(s.output(s.block(s.me)), s.input(), s.blocks({s.me, s.me + 1}));
  for (const auto& c : tree.children) s.receive(c.leader, s.output(s.block(c.members.begin)), s.blocks(c.members));
  const std::size_t before = s.block(tree.members.begin), after = s.block(tree.members.end);
  const std::size_t end = s.block(s.size());
  if (tree.parent >= 0) {
    s.send(tree.parent, s.output(before), after - before);
    s.receive(tree.parent, s.output(), before);
    s.receive(tree.parent, s.output(after), end - after);
  }
  for (const auto& c : tree.children) {
    s.send(c.leader, s.output(), s.block(c.members.begin));
    s.send(c.leader, s.output(s.block(c.members.end)), end - s.block(c.members.end));
  }
}

void scan_by_chain(const algorithm_context& s) {
  const std::size_t bytes = s.wanted.bytes, segment = s.segment();
  const bool exclusive = s.wanted.what == collective::exclusive_scan, last = s.me + 1 == s.size();
  for (std::size_t begin = 0; begin < bytes; begin += segment) {
    const std::size_t n = std::min(segment, bytes - begin);
    const location own = s.output(begin);
    if (s.me == 0) {
      if (!last) s.send(1, own, n);
      continue;
    }
    const location before = s.steps.allocate(n);
    s.receive(s.me - 1, before, n);
    if (!exclusive || !last) {
      const location upto = exclusive ? s.steps.allocate(n) : own;
      s.steps.combine(upto, before, own, n);
      if (!last) s.send(s.me + 1, upto, n);
    }
    if (exclusive) s.steps.copy(own, before, n);
  }
}

void scan_by_tree(const algorithm_context& s) {
  auto tree = tree_node_of(s);  // the root is rank 0, so leaders are the first of their ranges
  std::ranges::sort(tree.children, {}, [](const auto& c) { return c.leader; });
  const std::size_t n = s.wanted.bytes;
  if (n == 0) return;
  const bool exclusive = s.wanted.what == collective::exclusive_scan;
  std::vector<location> sums;  // of the children's subtrees, and one more
  for (std::size_t i = 0; i <= tree.children.size(); ++i) sums.push_back(s.steps.allocate(n));
  for (std::size_t i = 0; i < tree.children.size(); ++i) s.receive(tree.children[i].leader, sums[i], n);
  // Up: running sums, own value first; running[i] is the sum before child i.
  std::vector<location> running{s.output()};
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    running.push_back(s.steps.allocate(n));
    s.steps.combine(running.back(), running[i], sums[i], n);
  }
  const location before = sums.back();
  if (tree.parent >= 0) {
    s.send(tree.parent, running.back(), n);
    s.receive(tree.parent, before, n);
  }
  // Down: the prefix before the range of each child; sums[i] is free.
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    location prefix = running[i];
    if (tree.parent >= 0) {
      prefix = sums[i];
      s.steps.combine(prefix, before, running[i], n);
    }
    s.send(tree.children[i].leader, prefix, n);
  }
  if (tree.parent < 0) return;
  if (exclusive)
    s.steps.copy(s.output(), before, n);
  else
    s.steps.combine(s.output(), before, s.output(), n);
}

}  // namespace plaq::comm
