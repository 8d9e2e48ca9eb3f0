// The Markov chain of the continuous-time interaction expansion.
// Rubtsov, Savkin, Lichtenstein, PRB 72, 035122 (2005); Assaad, Lang, PRB 76, 035116 (2007).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "plaq/linalg/exchanged_inverse.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Walker that inserts and removes vertices, one by one and, where their types are partners, in pairs. Each block keeps
/// D^-1; a vertex adds one row and column of D to each of two blocks, or two to one block. A proposal costs O(k) to
/// O(k^2).
class walker {
 public:
  /// @pre The cluster outlives the walker.
  explicit walker(const interacting_cluster& cluster);

  /// Starts from `start` and computes D^-1 from scratch.
  void reset(configuration start);

  /// Makes `count` proposals with the numbers first, ..., first + count - 1 of the stream.
  void propose(const stream_id& stream, std::uint64_t first, int count);

  /// Proposes one of the reversals for all vertices of one cell, with number `number` of the stream; returns whether it
  /// was accepted.
  bool flip_cell(const stream_id& stream, std::uint64_t number);

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
  // Legs as lists of their parts, which loops over all of them read.
  struct leg_list {
    std::vector<int> create, annihilate;
    std::vector<double> tau, alpha;

    int size() const { return int(tau.size()); }
    placed_leg operator[](int i) const {
      const auto at = std::size_t(i);
      return {create[at], annihilate[at], tau[at], alpha[at]};
    }
    void clear() { create.clear(), annihilate.clear(), tau.clear(), alpha.clear(); }
    void push_back(const placed_leg& l) {
      create.push_back(l.create), annihilate.push_back(l.annihilate), tau.push_back(l.tau), alpha.push_back(l.alpha);
    }
    void exchange(const std::vector<int>& out, const leg_list& in) {
      linalg::exchanged_inverse::exchange_in(create, out, in.create);
      linalg::exchanged_inverse::exchange_in(annihilate, out, in.annihilate);
      linalg::exchanged_inverse::exchange_in(tau, out, in.tau);
      linalg::exchanged_inverse::exchange_in(alpha, out, in.alpha);
    }
  };
  struct sector {
    linalg::exchanged_inverse inverse;
    leg_list legs;
    std::vector<origin> origins;
    std::vector<int> out;  // rows of the proposal
    leg_list in_legs;      // new ones
    std::vector<origin> in_origins;
  };
  // Vertices to be drawn with a probability proportional to |weight|.
  class choices {
   public:
    void add(const interacting_cluster& c, int type);
    bool empty() const { return entries_.empty(); }
    vertex draw(const interacting_cluster& c, std::uint64_t kind, std::uint64_t tau, std::uint64_t cell) const;
    /// Measure of the vertices: beta N_c sum |weight|.
    double measure(const interacting_cluster& c) const;

   private:
    struct entry {
      double up_to;  // sum of |weight| up to this one
      int type, s;
    };
    std::vector<entry> entries_;
  };

  using words = std::array<std::uint64_t, 4>;
  bool try_insert(const words& word);
  bool try_remove(const words& word);
  bool try_insert_pair(const words& first, const words& second);
  bool try_remove_pair(const words& first, const words& second);
  bool accept(double ratio, std::uint64_t word);
  int type_of(int position) const { return place_.type_of(configuration_.vertices[std::size_t(position)]); }
  /// Positions of the vertices of one type (of all with a partner: -1).
  std::vector<int> positions_of(int type) const;

  double ratio_with(std::span<const vertex> added);
  double ratio_without(std::span<const int> positions);
  void begin_exchange();
  void enter(const vertex& v, int position);
  double try_exchange();
  void add(std::span<const vertex> added);
  void remove(std::span<int> positions);
  void commit();
  double element_between(int block, const placed_leg& a, origin of_a, const placed_leg& b, origin of_b) const;

  const interacting_cluster& cluster_;
  placement place_;
  choices single_, paired_;        // all vertices, those that have a partner
  std::vector<choices> partners_;  // [type] those of its partner
  configuration configuration_;
  move_counts counts_;
  std::vector<sector> sectors_;
  std::vector<std::array<int, 2>> rows_;  // [vertex][side]
};

}  // namespace plaq::dca::ctint
