// Moves that change the total spin: a pair of spin operators walks through sites and imaginary time, and turns spins.
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

/// A worm (Prokof'ev, Svistunov, Tupitsyn, JETP 87, 310 (1998)) in the space of auxiliary spins. A spin flip is
/// put at a point a of sites and times, its inverse at b, and b walks. Where it passes vertices of its site their
/// spins turn over: that is what the electrons' spins between a and b have done. When b meets a again both are
/// taken away, and the configuration has other spins at the same vertices. An excursion that has not closed after
/// `longest` steps is given up, so it is a step of the Markov chain between configurations without a worm.
///
/// With G_sigma the Green's function of the configuration, the weight is
///   |det N_up^-1 det N_down^-1 G_up(b, a) G_down(a, b)|,
/// and det N_sigma^-1 G_sigma is, up to its sign, the determinant of N_sigma^-1 with one more row and column,
///   D = [[N^-1, -g0(vertex, column's end)], [-g0(row's end, vertex) (e^V - 1), -g0(row's end, column's end)]],
/// the row's end being b and the column's a for up, the other way round for down. Its inverse is what is kept.
class spin_worm {
 public:
  static constexpr double opening = 8;     ///< weight of a configuration with a worm beside one without
  static constexpr double closings = 0.2;  ///< part of the steps that try to close the worm
  static constexpr double hops = 0.3;      ///< part of them that go to another site at the same time
  static constexpr int most_flips = 8;     ///< vertices that one step may pass
  static constexpr double reach = 3;       ///< longest step in time, in mean distances between the vertices of a site

  spin_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0);

  /// Makes an excursion from `vertices`, whose N_sigma are `n`. Its numbers are those of `stream` from `first` to
  /// first + longest. Returns whether it closed with other spins, those of the vertices `turned()`.
  template <class Real>
  bool walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
            const stream_id& stream, std::uint64_t first, int longest);

  /// Numbers of vertices, rising.
  std::vector<int> turned() const;

  // The parts of a walk, for the tests
  // ---------------------------------------------------------------------------------

  template <class Real>
  void load(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n);
  /// Puts both ends at a point, b just after a; returns the weight's ratio.
  double open(int site, double tau);
  /// The ratio if b went to a point and the vertices in `flipped` turned over; `step` does that.
  double try_step(int site, double tau, const std::vector<int>& flipped);
  void step();
  /// The ratio if the worm went away and the vertices in `flipped` turned over.
  double try_close(const std::vector<int>& flipped);
  /// Turns vertices over without a change of the worm, in what `turned` tells only.
  void turn(const std::vector<int>& flipped);
  /// Vertices of a site from tau to tau + distance, of either sign.
  const std::vector<int>& between(int site, double tau, double distance);

 private:
  struct point {
    int site = 0;
    double tau = 0;
  };
  // What belongs to one spin direction.
  struct sector {
    linalg::matrix<double> n;      // (k+1) x (k+1), the worm's row and column last
    std::vector<double> strength;  // e^V - 1 of every vertex
    // Of the step that is tried: of the flips y = (e^-V - 1)/(e^V - 1), B^-1; the new row or column of D; N's
    // column or row of the worm after the flips.
    std::vector<double> y, fresh, worm;
    linalg::matrix<double> b_inverse;
  };
  double try_flips(sector& s, const std::vector<int>& flipped);
  double corner(sector& s, const std::vector<int>& flipped);
  void apply_flips(sector& s);
  double wrapped(double tau) const;

  expansion parameters_;
  std::shared_ptr<const g0_table> g0_;
  vertex_strength strength_;
  double g_equal_;
  std::array<sector, 2> sectors_;
  point a_, b_, next_;
  std::vector<int> sites_, tried_, passed_;
  std::vector<double> taus_, forward_, backward_, left_, right_;
  std::vector<char> turned_;
};

}  // namespace plaq::dca
