// The Markov chain of the continuous-time interaction expansion.
// Rubtsov, Savkin, Lichtenstein, PRB 72, 035122 (2005); Assaad, Lang, PRB 76, 035116 (2007).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "plaq/linalg/exchanged_inverse.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Walker that inserts and removes vertices. Each block keeps D^-1; a vertex adds one row and column of D to each of
/// two blocks, or two to one block. A proposal costs O(k) to O(k^2).
class walker {
 public:
  /// @pre The cluster outlives the walker.
  explicit walker(const interacting_cluster& cluster);

  /// Starts from `start` and computes D^-1 from scratch.
  void reset(configuration start);

  /// Makes `count` proposals with the numbers first, ..., first + count - 1 of the stream.
  void propose(const stream_id& stream, std::uint64_t first, int count);

  /// Computes D^-1 from scratch; returns the largest deviation of the old elements from the new ones.
  double rebuild();

  void fill(sample& s) const;

  const configuration& current() const { return configuration_; }
  int order() const { return int(configuration_.vertices.size()); }
  const move_counts& counts() const { return counts_; }
  /// Inverse of D of a block: rows by creators, columns by annihilators.
  const linalg::matrix<double>& inverse(int block) const { return sectors_[std::size_t(block)].inverse.inverse(); }

 private:
  // Row of a block: which leg of which vertex.
  struct origin {
    int vertex, side;
  };
  struct sector {
    linalg::exchanged_inverse inverse;
    std::vector<placed_leg> legs;
    std::vector<origin> origins;
    std::vector<int> out;             // rows of the proposal
    std::vector<placed_leg> in_legs;  // new ones
    std::vector<origin> in_origins;
  };
  // Entry of the table of vertices to insert, with the sum of |weight| up to it.
  struct choice {
    double up_to;
    int type, s;
  };

  bool try_insert(const std::array<std::uint64_t, 4>& word);
  bool try_remove(const std::array<std::uint64_t, 4>& word);
  double ratio_with(const vertex& v);
  double ratio_without(int position);
  void commit();
  double element_of(int block, const sector& s, int row, int column) const;

  const interacting_cluster& cluster_;
  placement place_;
  std::vector<choice> choices_;
  double insertion_;  // beta N_c sum |weight|
  configuration configuration_;
  move_counts counts_;
  std::vector<sector> sectors_;
  std::vector<std::array<int, 2>> rows_;  // [vertex][side]
};

}  // namespace plaq::dca::ctint
