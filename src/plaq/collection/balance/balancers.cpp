#include "plaq/collection/balance/balancers.hpp"

#include "plaq/base/error.hpp"

namespace plaq::balance {

const std::vector<balancer>& balancers() {
  static const std::vector<balancer> all = {
      {.name = "none", .call = none},
      {.name = "longest_first", .call = longest_first},
      {.name = "greedy_refine", .call = greedy_refine},
      {.name = "refine", .call = refine, .looks_at_edges = true},
      {.name = "diffusion", .call = diffusion, .looks_at_edges = true, .by_talk = diffusion_of},
      {.name = "gossip", .call = gossip, .by_talk = gossip_of},
      {.name = "bisection", .call = bisection, .needs_points = true},
      {.name = "hilbert_cut", .call = hilbert_cut, .needs_positions = true},
      {.name = "hilbert_refine", .call = hilbert_refine, .needs_positions = true, .looks_at_edges = true},
      {.name = "hierarchical", .call = hierarchical, .needs_positions = true, .looks_at_edges = true},
  };
  return all;
}

const balancer& balancer_named(std::string_view name) {
  std::string known;
  for (const balancer& b : balancers()) {
    if (b.name == name) return b;
    known += (known.empty() ? "" : ", ") + std::string(b.name);
  }
  throw input_error("there is no balancer '" + std::string(name) + "'; there are " + known);
}

namespace detail {

plan never_worse(const situation& s, plan to) {
  const totals before(s, s.where), after(s, to);
  if (after.highest() > before.highest()) return s.where;
  for (std::size_t r = 0; r < after.bytes.size(); ++r)
    if (after.bytes[r] > s.most_bytes && after.bytes[r] > before.bytes[r]) return s.where;
  return to;
}

}  // namespace detail

plan none(const situation& s) {
  need_sound(s);
  return s.where;
}

}  // namespace plaq::balance
