// Who sits where: ranks in a row in which those of one node are neighbours, and trees over them.
#pragma once
#include <span>
#include <vector>

namespace plaq::comm {

/// Neighbouring positions begin ... end - 1.
struct range {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  bool contains(int position) const { return begin <= position && position < end; }
  bool operator==(const range&) const = default;
};

/// The ranks that algorithms work on, side by side. Every rank has a position; ranks of one node have neighbouring
/// ones.
class seating {
 public:
  /// One node, positions are ranks.
  explicit seating(int ranks) : ranks_(ranks), node_begin_{0} {}
  /// node_of[rank] names the node of each rank. Nodes come in the order of their lowest rank. `crowded`: a node has
  /// more ranks than cores.
  explicit seating(std::span<const int> node_of, bool crowded = false);

  int size() const { return ranks_; }
  /// Whether ranks take turns on cores. Then messages that one rank sends after another cost little beside the turns
  /// that ranks wait for when they follow from each other.
  bool crowded() const { return crowded_; }
  int nodes() const { return int(node_begin_.size()); }
  /// Whether positions are ranks, so that a range of positions is a block of neighbouring ranks.
  bool in_rank_order() const { return rank_at_.empty(); }
  int rank_at(int position) const { return in_rank_order() ? position : rank_at_[position]; }
  int position_of(int rank) const { return in_rank_order() ? rank : position_of_[rank]; }

  /// Cuts a range into at most `parts` parts of about one size: between nodes where it holds several, else at
  /// multiples of a power of two, which keeps sums in a fixed order short (see parts_of_sum.hpp).
  std::vector<range> split(range whole, int parts) const;

 private:
  int ranks_;
  bool crowded_ = false;
  std::vector<int> rank_at_, position_of_;  // empty where positions are ranks
  std::vector<int> node_begin_;             // first position of each node, ascending
};

/// How a tree with `arity` grows. Both kinds have subtrees that are ranges of neighbours, for any root.
enum class shape {
  nomial,  ///< a range is cut into `arity` parts; its leader also leads its own part: few levels
  fixed    ///< a leader has `arity` children at most: for long messages in segments; 1 is a chain, or two from a root
           ///< amid the ranks
};

/// Parent and children of a rank in a tree, in positions; parent is -1 at the root.
struct family {
  struct child {
    int leader;
    range members;
  };
  int parent = -1;
  range members;                ///< the subtree below this rank, itself included
  std::vector<child> children;  ///< the largest subtrees first in a nomial tree
};

/// The family of `position` in the tree with this root. A leader is the root where its range holds the root, else
/// the first of its range.
family find_family(const seating& seats, shape kind, int arity, int root, int position);

}  // namespace plaq::comm
