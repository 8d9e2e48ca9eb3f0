// Order of ranks in which the ranks of a node are neighbours, and trees over it.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace plaq::comm {

/// Positions begin ... end - 1.
struct range {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  bool contains(int position) const { return begin <= position && position < end; }
  bool operator==(const range&) const = default;
};

/// Map between ranks and positions. Ranks of one node have neighbouring positions. Its memory does not grow with the
/// number of ranks where all nodes but the last have equally many, one after the other.
class node_map {
 public:
  /// Map of ranks on one node, whose positions are ranks.
  explicit node_map(int ranks) : node_map(ranks, ranks) {}
  /// Map of ranks in their order on nodes of `per_node` ranks each; the last node has the rest.
  node_map(int ranks, int per_node, bool oversubscribed = false)
      : ranks_(ranks), per_node_(per_node < 1 ? 1 : per_node), oversubscribed_(oversubscribed) {}
  /// Map of ranks on several nodes: node_of[rank] is the node of a rank. Nodes come in the order of their lowest rank.
  /// `oversubscribed`: a node has more ranks than cores.
  explicit node_map(std::span<const int> node_of, bool oversubscribed = false);

  int size() const { return ranks_; }
  /// Whether ranks share cores. Then a sequence of messages of one rank costs little compared with waiting for a core
  /// in a chain of dependent messages.
  bool oversubscribed() const { return oversubscribed_; }
  int nodes() const { return per_node_ == 0 ? int(node_begin_.size()) : (ranks_ + per_node_ - 1) / per_node_; }
  /// Whether positions are ranks, so that a range of positions is a block of neighbouring ranks.
  bool in_rank_order() const { return rank_at_.empty(); }
  int rank_at(int position) const { return in_rank_order() ? position : rank_at_[position]; }
  int position_of(int rank) const { return in_rank_order() ? rank : position_of_[rank]; }

  /// Cuts a range into at most `parts` parts of about the same size: between nodes if it holds several, otherwise at
  /// multiples of a power of two, which keeps sums in a fixed order short (see parts_of_sum.hpp).
  std::vector<range> split(range whole, int parts) const;

 private:
  int first_of(int node) const { return per_node_ == 0 ? node_begin_[std::size_t(node)] : node * per_node_; }
  /// Returns the first node that begins at a position or behind it.
  int node_from(int position) const;

  int ranks_;
  int per_node_ = 0;  // 0: nodes begin where node_begin_ says
  bool oversubscribed_ = false;
  std::vector<int> rank_at_, position_of_;  // empty where positions are ranks
  std::vector<int> node_begin_;             // first position of each node, ascending
};

/// Shape of a tree with an arity. Subtrees are ranges of positions, for any root.
enum class shape {
  nomial,  ///< a range is cut into `arity` parts; its leader also leads its own part: few levels
  fixed    ///< a leader has at most `arity` children: for long messages in segments; 1 is a chain, or two from a root
           ///< in the middle
};

/// Node of a tree: parent and children of a rank, as positions. The parent of the root is -1.
struct tree_node {
  struct child {
    int leader;
    range members;
  };
  int parent = -1;
  range members;                ///< subtree of this rank, itself included
  std::vector<child> children;  ///< the largest subtrees first in a nomial tree
};

/// Returns the node of `position` in the tree with this root. The leader of a range is the root if the range holds it,
/// otherwise its first position.
tree_node find_tree_node(const node_map& map, shape form, int arity, int root, int position);

}  // namespace plaq::comm
