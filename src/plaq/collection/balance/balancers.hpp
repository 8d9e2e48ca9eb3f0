// Balancers: pure functions from a situation to a plan, so that they are tested and compared without ranks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plaq/collection/balance/situation.hpp"
#include "plaq/collection/balance/talk.hpp"

namespace plaq::balance {

// Every plan keeps all elements and the cap on bytes where the situation keeps it, is never worse than to move
// nothing (its highest load is not higher), and is a function of the situation alone.

/// Nothing moves.
plan none(const situation& s);

/// The largest first, each to the rank that has least: within 4/3 of the best (Graham 1969). Needs all loads; moves
/// nearly everything.
plan longest_first(const situation& s);

/// The same, but an element stays where that keeps its rank below what longest_first reaches (GreedyRefine of
/// Charm++): needs all loads, moves less.
plan greedy_refine(const situation& s);

/// From the rank that has most, one element after the other, to ranks that it talks to before others, so that
/// little is cut; where none is small enough, two change places. Needs all loads, and edges for locality.
plan refine(const situation& s);

/// Load flows between ranks that talk to each other until they are alike (Cybenko 1989), by the second order
/// scheme of Muthukrishnan, Ghosh and Schultz (1998), in as many rounds as the ranks are wide; elements then move
/// along the flow (Hu and Blake 1999). Without edges the ranks are a ring. A rank needs to know the loads of its
/// neighbours only.
plan diffusion(const situation& s);

/// Ranks that have little say so to some others, who say it to some others; who has much gives elements to those
/// that it has heard of, at random, more likely to those that have less (Menon and Kale 2013), as long as the
/// taker ends below the giver, for several rounds, of which the best counts (Lifflander et al. 2021). A rank knows
/// what it has heard.
plan gossip(const situation& s);

/// Halves of ranks get halves of the load, cut across the longer side of the mesh, and so on (Berger and Bokhari
/// 1987). Needs points and all loads.
plan bisection(const situation& s);

/// The best that can be had by cutting the curve into one part for each rank, exactly (Pinar and Aykanat 2004):
/// parts stay compact. Needs positions and all loads.
plan hilbert_cut(const situation& s);

/// hilbert_cut, then refine.
plan hilbert_refine(const situation& s);

/// The curve is cut for nodes, then each node's elements are refined within it. Needs positions, all loads of
/// nodes, and those of a node on it.
plan hierarchical(const situation& s);

struct balancer {
  std::string_view name;
  plan (*call)(const situation&);
  bool needs_positions = false, needs_points = false;
  bool looks_at_edges = false;
  method by_talk = nullptr;  ///< how a rank does it that does not know all loads
};
/// All of them.
const std::vector<balancer>& balancers();
/// Throws input_error that lists the names.
const balancer& balancer_named(std::string_view name);

namespace detail {

/// `to`, or nothing moves where that is worse, or breaks the cap and nothing does not.
plan never_worse(const situation& s, plan to);
/// refine from `to` on.
plan refined(const situation& s, plan to);
/// The parts of a line of loads, one for each weight, whose largest load per weight is least: for each element its
/// part.
std::vector<int> cut(const std::vector<double>& loads, int parts);
/// Elements in the order of their positions.
std::vector<std::size_t> along_curve(const situation& s);

}  // namespace detail

}  // namespace plaq::balance
