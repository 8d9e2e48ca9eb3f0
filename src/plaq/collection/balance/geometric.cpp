// Balancers that keep neighbours together.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "plaq/base/error.hpp"
#include "plaq/collection/balance/balancers.hpp"

namespace plaq::balance {

namespace detail {

/// Whether parts of at most `most` suffice. `reached`: the largest part if they do, otherwise a lower bound of the
/// largest part. @pre No element exceeds `most`.
static bool suffices(const std::vector<double>& loads, int parts, double most, double& reached) {
  double part = 0, largest = 0, next = std::numeric_limits<double>::infinity();
  int used = 1;
  for (const double load : loads) {
    if (part + load <= most) {
      part += load;
      continue;
    }
    next = std::min(next, part + load);
    largest = std::max(largest, part);
    part = load;
    if (++used > parts) {
      reached = next;
      return false;
    }
  }
  reached = std::max(largest, part);
  return true;
}

std::vector<int> cut(const std::vector<double>& loads, int parts) {
  const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
  double low = 0, high = all;
  for (const double load : loads) low = std::max(low, load);
  // Bisection over the sums that parts can have. `high` suffices; `middle` is below it, so that each trial moves one
  // of the bounds, also where no number lies between them.
  for (double middle = std::max(low, all / parts); low < high; middle = low + (high - low) / 2) {
    if (!(middle < high)) middle = low;
    double reached = 0;
    if (suffices(loads, parts, middle, reached))
      high = reached;
    else
      low = reached;
  }
  // Fill parts from the left.
  std::vector<int> out(loads.size());
  double part = 0;
  int now = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const bool must = part + loads[i] > high;
    if (must && now + 1 < parts) ++now, part = 0;
    part += loads[i];
    out[i] = now;
  }
  return out;
}

std::vector<std::size_t> along_curve(const load_distribution& s) {
  if (s.positions.empty() && s.size() > 0)
    throw input_error("balance: the Hilbert curve needs positions of elements, and there are none");
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return s.positions[i]; });
  return order;
}

/// Cuts the elements, in this order, into parts. Returns the part of each.
static plan cut_along(const load_distribution& s, const std::vector<std::size_t>& order, int parts) {
  std::vector<double> loads;
  for (const std::size_t i : order) loads.push_back(s.loads[i]);
  const auto of = cut(loads, parts);
  plan to(s.size());
  for (std::size_t k = 0; k < order.size(); ++k) to[order[k]] = of[k];
  return to;
}

}  // namespace detail

plan hilbert_cut(const load_distribution& s) {
  validate(s);
  return detail::never_worse(s, detail::cut_along(s, detail::along_curve(s), s.ranks));
}

plan hilbert_refine(const load_distribution& s) {
  validate(s);
  return detail::never_worse(s, detail::refined(s, detail::cut_along(s, detail::along_curve(s), s.ranks)));
}

plan hierarchical(const load_distribution& s) {
  validate(s);
  const int nodes = (s.ranks + s.ranks_per_node - 1) / s.ranks_per_node;
  const auto order = detail::along_curve(s);
  // The curve is cut for ranks; a node gets the parts of its ranks, so that its share follows their number.
  const plan by_rank = detail::cut_along(s, order, s.ranks);
  std::vector<load_distribution> inside(std::size_t(nodes), load_distribution{.loads = {}, .rank_of = {}});
  std::vector<std::vector<std::size_t>> of(inside.size());
  std::vector<std::size_t> number(s.size());  // of an element, in its node
  for (std::size_t i = 0; i < s.size(); ++i) {
    const int node = by_rank[i] / s.ranks_per_node, first = node * s.ranks_per_node;
    load_distribution& in = inside[std::size_t(node)];
    number[i] = in.size();
    of[std::size_t(node)].push_back(i);
    in.loads.push_back(s.loads[i]);
    if (!s.sizes.empty()) in.sizes.push_back(s.sizes[i]);
    const bool stays = s.rank_of[i] / s.ranks_per_node == node;
    in.rank_of.push_back((stays ? s.rank_of[i] : by_rank[i]) - first);
  }
  for (const edge& e : s.edges)
    if (const int node = by_rank[e.a] / s.ranks_per_node; node == by_rank[e.b] / s.ranks_per_node)
      inside[std::size_t(node)].edges.push_back({number[e.a], number[e.b], e.weight});
  plan to(s.size());
  for (int node = 0; node < nodes; ++node) {
    load_distribution& in = inside[std::size_t(node)];
    const int first = node * s.ranks_per_node;
    in.ranks = std::min(s.ranks_per_node, s.ranks - first);
    in.most_bytes = s.most_bytes;
    const plan within = detail::refined(in, in.rank_of);
    for (std::size_t k = 0; k < in.size(); ++k) to[of[std::size_t(node)][k]] = first + within[k];
  }
  return detail::never_worse(s, std::move(to));
}

namespace {

/// Assigns the elements of `part` to ranks first ... first + count - 1.
void bisect(const load_distribution& s, std::span<std::size_t> part, int first, int count, plan& to) {
  if (count == 1) {
    for (const std::size_t i : part) to[i] = first;
    return;
  }
  std::size_t longest = 0;
  double extent = -1;
  for (std::size_t d = 0; d < 3; ++d) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const std::size_t i : part) least = std::min(least, s.points[i][d]), most = std::max(most, s.points[i][d]);
    if (most - least > extent) extent = most - least, longest = d;
  }
  std::ranges::sort(part, {}, [&](std::size_t i) { return std::pair(s.points[i][longest], i); });
  double all = 0;
  for (const std::size_t i : part) all += s.loads[i];
  const int left = count / 2;
  const double wanted = all * left / count;
  double sum = 0;
  std::size_t cut = 0;
  while (cut < part.size() && sum + s.loads[part[cut]] / 2 <= wanted) sum += s.loads[part[cut++]];
  bisect(s, part.first(cut), first, left, to);
  bisect(s, part.subspan(cut), first + left, count - left, to);
}

}  // namespace

plan bisection(const load_distribution& s) {
  validate(s);
  if (s.points.empty() && s.size() > 0)
    throw input_error("balance: bisection needs points of elements, and there are none");
  std::vector<std::size_t> all(s.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  plan to(s.size());
  bisect(s, all, 0, s.ranks, to);
  return detail::never_worse(s, std::move(to));
}

}  // namespace plaq::balance
