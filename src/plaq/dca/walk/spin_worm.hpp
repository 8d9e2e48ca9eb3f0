// Moves that change the total spin: a pair of spin operators walks through sites and imaginary time and flips spins.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Worm (Prokof'ev, Svistunov, Tupitsyn, JETP 87, 310 (1998)) in the space of auxiliary spins.
///
/// A spin flip is inserted at a point a of sites and times, its inverse at b, and b walks. The vertices of its site
/// that it passes flip their spins, as the electrons' spins between a and b have flipped. When b meets a again both are
/// removed, and the configuration has other spins at the same vertices. An excursion that has not closed after
/// `longest` steps is rejected as a whole, so it is a step of the Markov chain between configurations without a worm.
///
/// With G_sigma the Green's function of the configuration, the weight is
///   |det N_up^-1 det N_down^-1 G_up(b, a) G_down(a, b)|,
/// and det N_sigma^-1 G_sigma is, up to its sign, the determinant of N_sigma^-1 with one more row and column,
///   D = [[N^-1, -g0(vertex, column's end)], [-g0(row's end, vertex) (e^V - 1), -g0(row's end, column's end)]],
/// the row's end being b and the column's a for up, the reverse for down. The inverse of D is stored.
class spin_worm {
 public:
  static constexpr double opening = 8;                ///< weight of a configuration with a worm relative to one without
  static constexpr double closing_probability = 0.2;  ///< of a step that tries to close the worm
  static constexpr double hop_probability = 0.3;      ///< of a step to another site at the same time
  static constexpr int most_flips = 8;                ///< vertices that one step may pass
  static constexpr double reach = 3;  ///< longest step in time, in mean distances between the vertices of a site

  spin_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0);

  /// Makes an excursion from `vertices`, whose N_sigma are `n`, with the numbers first, ..., first + longest of the
  /// stream. Returns whether it closed with other spins; flipped_vertices() has the vertices.
  template <class Real>
  bool walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
            const stream_id& stream, std::uint64_t first, int longest);

  /// Indices of the flipped vertices, ascending.
  std::vector<int> flipped_vertices() const;

  // Parts of a walk, public for the tests
  // ---------------------------------------------------------------------------------

  template <class Real>
  void load(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n);
  /// Inserts both ends at a point, b just after a; returns the ratio of weights.
  double open(int site, double tau);
  /// Returns the ratio of weights if b moves to a point and the vertices in `flipped` flip; step() does it.
  double try_step(int site, double tau, const std::vector<int>& flipped);
  void step();
  /// Returns the ratio of weights if the worm is removed and the vertices in `flipped` flip.
  double try_close(const std::vector<int>& flipped);
  /// Flips vertices in flipped_vertices() only; the worm and its matrices stay.
  void mark_flipped(const std::vector<int>& flipped);
  /// Vertices of a site from tau to tau + distance, which has either sign; valid until the next call.
  const std::vector<int>& vertices_between(int site, double tau, double distance);

 private:
  struct point {
    int site = 0;
    double tau = 0;
  };
  // Matrices of one spin direction.
  struct sector {
    linalg::matrix<double> n;      // (k+1) x (k+1), the worm's row and column last
    std::vector<double> strength;  // e^V - 1 of every vertex
    // Of the proposed step: y = (e^-V - 1)/(e^V - 1) and B^-1 of the flips, the new row or column of D, and N's column
    // or row of the worm after the flips.
    std::vector<double> y, border, worm;
    linalg::matrix<double> b_inverse;
  };
  double try_flips(sector& s, const std::vector<int>& flipped);
  double corner(sector& s, const std::vector<int>& flipped);
  void apply_flips(sector& s);
  double wrap(double tau) const;

  expansion parameters_;
  std::shared_ptr<const g0_table> g0_;
  vertex_strength strength_;
  double g_equal_;
  std::array<sector, 2> sectors_;
  point a_, b_, next_;
  std::vector<int> sites_, tried_flips_, interval_;
  std::vector<double> taus_, forward_, backward_, left_, right_;
  std::vector<char> flipped_;
};

}  // namespace plaq::dca
