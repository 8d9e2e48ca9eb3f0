// The Markov chain of continuous-time auxiliary-field QMC with submatrix updates.
// Algorithm: Gull et al., EPL 82, 57003 (2008); submatrix updates: Gull et al., PRB 83, 075122 (2011).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/walk/charge_worm.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/dca/walk/spin_worm.hpp"
#include "plaq/linalg/growing_inverse.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Numbers of proposed and accepted moves of a walker.
struct move_counts {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
};

/// Walker that inserts and removes vertices. N_sigma = (e^V - g (e^V - 1))^-1 is kept in precision `Real`.
///
/// Proposals are drawn one by one from the stream, each from its own counter, and decided one by one. Only the change
/// of N is delayed to the end of a block of proposals. With S the vertices changed so far in the block,
///   N' = (N^-1 + (1-g) X)^-1,   X = e^{V'} - e^V on S, 0 elsewhere.
/// The block keeps the inverse of B = 1 + [N (1-g)]_SS X_S. It grows when a vertex changes and shrinks when a vertex of
/// this block is removed again, so a block never ends early.
template <class Real>
class walker {
 public:
  walker(const expansion& parameters, std::shared_ptr<const g0_table> g0, int block_length);

  /// Starts from `start` and computes N from scratch.
  void reset(configuration start);

  /// Makes `count` proposals with the numbers first, ..., first + count - 1 of the stream.
  void propose(const stream_id& stream, std::uint64_t first, int count);

  /// Computes N from scratch; returns the largest deviation of the old elements from the new ones.
  double rebuild();

  /// Proposes to flip all spins of one site, with number `number` of the stream; returns whether it was accepted.
  ///
  /// Moves of single vertices reverse a local moment too rarely when beta U is large: Scalettar, Noack, Singh, PRB 44,
  /// 10502 (1991).
  /// @pre The last change of N was a rebuild.
  bool flip_site(const stream_id& stream, std::uint64_t number);

  /// Makes an excursion of a spin_worm of at most `longest` steps, with the numbers first, ..., first + longest of the
  /// stream. Returns whether it changed spins; N is then computed from scratch.
  bool send_worm(const stream_id& stream, std::uint64_t first, int longest);

  /// Makes an excursion of a charge_worm, with the numbers first, ..., first + charge_worm::numbers (longest + 1) - 1
  /// of the stream. It may change all vertices. Returns whether it closed; N is then computed from scratch.
  bool send_charge_worm(const stream_id& stream, std::uint64_t first, int longest);

  /// Fills a sample for the measurements: M_sigma = (e^V - 1) N, vertices ordered by site.
  void fill(sample& s) const;

  const configuration& current() const { return configuration_; }
  int order() const { return int(configuration_.vertices.size()); }
  const move_counts& counts() const { return counts_; }
  const linalg::matrix<Real>& n_matrix(int spin_index) const { return sectors_[spin_index].n; }

 private:
  // A vertex that the block can change: a vertex of N, or a candidate for insertion.
  struct element {
    bool candidate;
    int index;
  };
  struct candidate_vertex {
    vertex v;
    std::array<double, 2> strength;
  };
  // Matrices of one spin direction.
  struct sector {
    linalg::matrix<Real> n;       // k x k
    std::vector<Real> strength;   // e^V - 1 of every vertex
    linalg::matrix<Real> a;       // k x c: N g(vertices, candidates)
    linalg::matrix<Real> g_back;  // k x c: (e^V - 1) g(candidates, vertices)^T
    linalg::matrix<Real> w;       // c x c: g_back^T a
    linalg::growing_inverse b;
    std::vector<double> column, row;
  };

  // N of both spins from scratch, with sign and log|.| of the weight.
  struct fresh_matrices {
    std::array<linalg::matrix<double>, 2> n;
    double sign = 1, log = 0;
  };
  void tabulate_g0();
  fresh_matrices compute_matrices() const;
  void adopt(const fresh_matrices& fresh);

  void run_block(const stream_id& stream, std::uint64_t first, int count);
  void prepare_block(const stream_id& stream, std::uint64_t first, int count);
  bool try_insert(int candidate, double u);
  bool try_remove(int position, double u);
  double determinant_ratio(sector& s, int sigma_index, element e);
  double matrix_entry(const sector& s, int sigma_index, element row, element column) const;
  void finish_block();
  void update(sector& s, int sigma_index);
  template <class Value>
  void close_gaps(Value* values, int count) const;
  void close_columns(linalg::matrix<Real>& m) const;

  expansion parameters_;
  std::shared_ptr<const g0_table> g0_;
  int block_length_;
  vertex_strength strength_;
  double g_equal_;
  configuration configuration_;
  move_counts counts_;
  std::array<sector, 2> sectors_;
  linalg::matrix<double> g_all_;
  spin_worm worm_;
  charge_worm charge_worm_;

  // The current block.
  std::vector<std::array<std::uint64_t, 4>> words_;
  std::vector<candidate_vertex> candidates_;
  std::vector<int> sites_;
  std::vector<double> taus_;
  linalg::matrix<Real> g_forward_, g_backward_;  // k x c
  linalg::matrix<double> g_candidates_;          // c x c
  std::vector<element> alive_;                   // the present vertices, by number
  std::vector<element> changed_;                 // S, in the order of the rows of B
  std::vector<int> gaps_;                        // positions of removed old vertices, descending
  linalg::matrix<Real> accepted_back_, lower_, left_, right_, solved_, b_inverse_;
};

extern template class walker<double>;
extern template class walker<float>;

}  // namespace plaq::dca
