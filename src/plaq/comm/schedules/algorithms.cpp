#include "plaq/comm/schedules/algorithms.hpp"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/schedules/algorithm_parts.hpp"

namespace plaq::comm {

namespace {

constexpr std::array<std::string_view, 11> collectives{
    "broadcast",  "reduce",         "scatter", "gather",         "all_reduce",    "all_gather",
    "all_to_all", "reduce_scatter", "barrier", "inclusive_scan", "exclusive_scan"};
constexpr std::array<std::string_view, 8> algorithms{"tree", "chain",  "butterfly", "halving",
                                                     "ring", "direct", "bruck",     "doubling"};

int index_of(std::span<const std::string_view> names, std::string_view name, const char* what) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return int(found - names.begin());
  std::string message = std::string(what) + " '" + std::string(name) + "' is not one of ";
  for (const auto n : names) message += (n == names.front() ? "" : ", ") + std::string(n);
  throw input_error(message);
}

bool has_root(collective what) {
  return what == collective::broadcast || what == collective::reduce || what == collective::scatter ||
         what == collective::gather;
}

/// Whether the operation needs the order of ranks: for blocks, prefixes, or a fixed order.
bool needs_rank_order(const request& wanted) {
  switch (wanted.what) {
    case collective::broadcast:
    case collective::barrier: return false;
    case collective::reduce:
    case collective::all_reduce: return wanted.fixed_order;
    default: return true;
  }
}

[[noreturn]] void throw_unknown(const request& wanted, algorithm how) {
  throw input_error("there is no " + std::string(name_of(wanted.what)) + " by the algorithm " +
                    std::string(name_of(how)));
}

void write_all_reduce(const algorithm_context& s) {
  switch (s.by.how) {
    case algorithm::tree:
    case algorithm::chain:
      return reduce_by_tree(s, s.wanted.first_piece.empty() ? s.output() : s.input(), s.output(), true);
    case algorithm::butterfly: return all_reduce_by_butterfly(s);
    case algorithm::halving: return all_reduce_by_halving(s);
    case algorithm::ring: return all_reduce_by_ring(s);
    case algorithm::direct: return all_reduce_directly(s);
    default: throw_unknown(s.wanted, s.by.how);
  }
}

void write_steps(const algorithm_context& s) {
  switch (s.wanted.what) {
    case collective::broadcast: return broadcast_by_tree(s);
    case collective::reduce: return reduce_by_tree(s, s.input(), s.output(), false);
    case collective::scatter: return scatter_by_tree(s);
    case collective::gather: return gather_by_tree(s);
    case collective::all_reduce:
    case collective::barrier: return write_all_reduce(s);
    case collective::all_gather:
      return s.by.how == algorithm::tree        ? all_gather_by_tree(s)
             : s.by.how == algorithm::butterfly ? all_gather_by_butterfly(s)
             : s.by.how == algorithm::ring      ? all_gather_by_ring(s)
                                                : all_gather_directly(s);
    case collective::all_to_all: return s.by.how == algorithm::bruck ? all_to_all_by_bruck(s) : all_to_all_directly(s);
    case collective::reduce_scatter:
      return s.by.how == algorithm::tree ? reduce_scatter_by_tree(s) : reduce_scatter_directly(s);
    case collective::inclusive_scan:
    case collective::exclusive_scan:
      return s.by.how == algorithm::tree    ? scan_by_tree(s)
             : s.by.how == algorithm::chain ? scan_by_chain(s)
                                            : scan_by_doubling(s);
  }
}

}  // namespace

std::vector<algorithm> algorithms_for(collective what) {
  using enum algorithm;
  switch (what) {
    case collective::broadcast:
    case collective::reduce: return {tree, chain};
    case collective::scatter:
    case collective::gather: return {tree};
    case collective::all_reduce: return {butterfly, tree, chain, halving, ring, direct};
    case collective::all_gather: return {butterfly, tree, ring, direct};
    case collective::all_to_all: return {bruck, direct};
    case collective::reduce_scatter: return {direct, tree};
    case collective::barrier: return {butterfly, tree};
    case collective::inclusive_scan:
    case collective::exclusive_scan: return {doubling, tree, chain};
  }
  throw runtime_failure("unknown collective");
}

bool keeps_fixed_order(collective what, algorithm how, int ranks) {
  if (what == collective::inclusive_scan || what == collective::exclusive_scan) return how == algorithm::doubling;
  if (how == algorithm::halving) return std::has_single_bit(unsigned(ranks));
  return how != algorithm::ring;
}

bool takes_blocks_of_any_length(collective what, algorithm how) {
  return how == algorithm::tree || what == collective::reduce_scatter;
}

std::string_view name_of(collective what) { return collectives[std::size_t(what)]; }
std::string_view name_of(algorithm how) { return algorithms[std::size_t(how)]; }
collective collective_named(std::string_view name) {
  return collective(index_of(collectives, name, "the collective operation"));
}
algorithm algorithm_named(std::string_view name) { return algorithm(index_of(algorithms, name, "the algorithm")); }

schedule make_schedule(const request& asked, const method& by, const node_map& map, int rank) {
  const int ranks = map.size();
  request wanted = asked;
  if (!has_root(wanted.what)) wanted.root = 0;
  if (const auto known = algorithms_for(wanted.what); std::ranges::find(known, by.how) == known.end())
    throw_unknown(wanted, by.how);
  if (wanted.root < 0 || wanted.root >= ranks)
    throw input_error("there is no rank " + std::to_string(wanted.root) + " among " + std::to_string(ranks));
  const bool tree = by.how == algorithm::tree || by.how == algorithm::chain;
  const int least = by.how == algorithm::chain ? 1 : 2;
  if (by.arity < least)
    throw input_error("the arity of the algorithm " + std::string(name_of(by.how)) + " must be at least " +
                      std::to_string(least) + ", it is " + std::to_string(by.arity));
  check(wanted.bytes % wanted.grain == 0, "a block is not a whole number of grains");
  check(wanted.first_piece.empty() || (tree && int(wanted.first_piece.size()) == ranks + 1),
        "pieces are reduced by trees only");
  check(wanted.first_byte.empty() ||
            (takes_blocks_of_any_length(wanted.what, by.how) && int(wanted.first_byte.size()) == ranks + 1),
        "the algorithm takes no blocks of different lengths");
  if (wanted.fixed_order && !keeps_fixed_order(wanted.what, by.how, ranks))
    throw input_error("the algorithm " + std::string(name_of(by.how)) + " keeps no fixed order on " +
                      std::to_string(ranks) + " ranks");
  program steps;
  if (needs_rank_order(wanted) && !map.in_rank_order()) {
    const node_map plain(ranks);
    write_steps({wanted, by, plain, rank, steps});
  } else {
    write_steps({wanted, by, map, map.position_of(rank), steps});
  }
  return std::move(steps).finish();
}

}  // namespace plaq::comm
