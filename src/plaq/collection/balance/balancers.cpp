#include "plaq/collection/balance/balancers.hpp"

#include "plaq/base/error.hpp"

namespace plaq::balance {

const std::vector<balancer>& balancers() {
  static const std::vector<balancer> all = {
      {.name = "none", .call = none},
      {.name = "longest_first", .call = longest_first},
      {.name = "greedy_refine", .call = greedy_refine},
      {.name = "refine", .call = refine, .uses_edges = true},
      {.name = "diffusion", .call = diffusion, .uses_edges = true, .protocol = diffusion_protocol},
      {.name = "gossip", .call = gossip, .protocol = gossip_protocol},
      {.name = "bisection", .call = bisection, .needs_points = true},
      {.name = "hilbert_cut", .call = hilbert_cut, .needs_positions = true},
      {.name = "hilbert_refine", .call = hilbert_refine, .needs_positions = true, .uses_edges = true},
      {.name = "hierarchical", .call = hierarchical, .needs_positions = true, .uses_edges = true},
  };
  return all;
}

const balancer& balancer_named(std::string_view name) {
  std::string known;
  for (const balancer& b : balancers()) {
    if (b.name == name) return b;
    known += (known.empty() ? "" : ", ") + std::string(b.name);
  }
  throw input_error("unknown balancer '" + std::string(name) + "'; allowed: " + known);
}

namespace detail {

plan never_worse(const load_distribution& s, plan to) {
  const totals before(s, s.rank_of), after(s, to);
  if (after.highest() > before.highest()) return s.rank_of;
  for (std::size_t r = 0; r < after.bytes.size(); ++r)
    if (after.bytes[r] > s.most_bytes && after.bytes[r] > before.bytes[r]) return s.rank_of;
  return to;
}

}  // namespace detail

plan none(const load_distribution& s) {
  validate(s);
  return s.rank_of;
}

}  // namespace plaq::balance
