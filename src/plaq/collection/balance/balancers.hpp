// Balancers: pure functions from a load distribution to a plan, so that they are tested and compared without ranks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plaq/collection/balance/load_distribution.hpp"
#include "plaq/collection/balance/protocol.hpp"

namespace plaq::balance {

// Every plan keeps all elements, and the cap on bytes where the current one keeps it. Its highest load is not higher
// than the current one. It is a function of the load distribution alone. @pre of all balancers: see validate().

/// Returns the current plan.
plan none(const load_distribution& s);

/// Assigns the largest element first, each to the rank with the lowest load: within 4/3 of the optimum (Graham 1969).
/// Needs all loads; moves nearly everything.
plan longest_first(const load_distribution& s);

/// Refines longest_first: an element stays where its rank remains below the highest load of longest_first (GreedyRefine
/// of Charm++). Needs all loads, moves less.
plan greedy_refine(const load_distribution& s);

/// Moves one element after the other from the rank with the highest load, preferably to ranks that it communicates
/// with; where none is small enough, exchanges two. Needs all loads, and edges for locality.
plan refine(const load_distribution& s);

/// Lets load flow between ranks that communicate until loads are equal (Cybenko 1989), by the second order scheme of
/// Muthukrishnan, Ghosh and Schultz (1998), in as many rounds as the ranks are wide; elements then move along the flow
/// (Hu and Blake 1999). Without edges the ranks are a ring. A rank needs the loads of its neighbours only.
plan diffusion(const load_distribution& s);

/// Spreads low loads by gossip; an overloaded rank gives elements to ranks that it knows of, at random, with a
/// probability that grows as their load falls (Menon and Kale 2013). The taker ends below the giver. Takes the best of
/// several rounds (Lifflander et al. 2021). A rank needs the loads that it receives.
plan gossip(const load_distribution& s);

/// Cuts the longer side of the mesh so that halves of the ranks get halves of the load, recursively (Berger and Bokhari
/// 1987). Needs points and all loads.
plan bisection(const load_distribution& s);

/// Cuts the curve into one part for each rank, with the lowest possible highest load (Pinar and Aykanat 2004): parts
/// stay compact. Needs positions and all loads.
plan hilbert_cut(const load_distribution& s);

/// Returns hilbert_cut, refined.
plan hilbert_refine(const load_distribution& s);

/// Cuts the curve for nodes, and refines each node's elements within it. Needs positions, all loads of nodes, and the
/// loads of its elements on a node.
plan hierarchical(const load_distribution& s);

/// Balancer with its name and needs.
struct balancer {
  std::string_view name;
  plan (*call)(const load_distribution&);
  bool needs_positions = false, needs_points = false;
  bool uses_edges = false;
  balance::protocol protocol = nullptr;  ///< for ranks that do not know all loads; null: there is none
};
/// Returns all balancers.
const std::vector<balancer>& balancers();
/// Returns the balancer of that name. Throws input_error that lists the names.
const balancer& balancer_named(std::string_view name);

namespace detail {

/// Returns `to`, or the current plan if `to` is worse, or breaks the cap and the current one does not.
plan never_worse(const load_distribution& s, plan to);
/// Returns the plan `to`, refined.
plan refined(const load_distribution& s, plan to);
/// Cuts a row of loads into parts whose largest load is least. Returns the part of each element.
std::vector<int> cut(const std::vector<double>& loads, int parts);
/// Elements in the order of their positions. Throws input_error if there are none.
std::vector<std::size_t> along_curve(const load_distribution& s);

}  // namespace detail

}  // namespace plaq::balance
