// Moves that change the number of electrons: a pair c^dagger(a) c(b) of one spin walks and rewrites the vertices
// on its way.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/occupation.hpp"
#include "plaq/linalg/exchanged_inverse.hpp"

namespace plaq::dca {

/// A worm as spin_worm is one, with operators of one spin: an electron is created at a and taken away at b, and b
/// walks through sites and times until it meets a again. Where it has gone forward in time there is one electron
/// more, where backward one less. Vertices there would not fit any longer, so with every step those on the
/// interval that was passed are taken out and others drawn, as they stand on a site that is occupied in this way
/// (`occupation`). The weight is
///   (K/(2 beta Nc))^k |det N_up^-1 det N_down^-1 G_sigma(b, a)|,
/// det N_sigma^-1 G_sigma being the determinant of N_sigma^-1 with the column -g0(vertex, a), the row
/// -g0(b, vertex) (e^V - 1) and -g0(b, a) where they cross. A step from vertices R to A is accepted by the ratio
/// of weights times density(R)/density(A), with which the reverse step and this one draw them.
class charge_worm {
 public:
  static constexpr double opening = 3;               ///< weight of a configuration with a worm beside one without
  static constexpr double closings = 0.06;           ///< part of the steps that try to close the worm
  static constexpr double hops = 0.3;                ///< part of them that go to another site at the same time
  static constexpr double reach = 5;                 ///< longest step in time, in vertices of a singly occupied site
  static constexpr int most_vertices = 14;           ///< that one step may take out or bring in
  static constexpr int numbers = 2 + most_vertices;  ///< blocks of random words for a step

  charge_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0);

  /// Makes an excursion from `vertices`, whose N_sigma are `n`. Its numbers are those of `stream` from `first` to
  /// first + numbers (longest + 1). Returns whether it closed, with `vertices()`.
  template <class Real>
  bool walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
            const stream_id& stream, std::uint64_t first, int longest);

  const std::vector<vertex>& vertices() const { return vertices_; }

  // The parts of a walk, for the tests
  // ---------------------------------------------------------------------------------

  struct point {
    int site = 0;
    double tau = 0;
  };
  struct ends {
    int side;  ///< 0 for spin up, 1 for spin down
    point a, b;
  };
  template <class Real>
  void load(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n);
  /// The ratio of determinants with the worm `next`, or without one, the vertices `out` (their numbers, rising)
  /// taken out and `in` brought in; `change` does that.
  double try_change(const std::optional<ends>& next, const std::vector<int>& out, const std::vector<vertex>& in);
  void change();

 private:
  // What belongs to one spin direction: D^-1 with the worm's row and column first, which are those of the unit
  // matrix where there is no worm of this spin, then the vertices'.
  struct sector {
    linalg::exchanged_inverse d;
    std::vector<double> strength;  // e^V - 1 of every vertex
    bool changes = false;
  };
  /// Rewrites the vertices of a site from tau to tau + distance where an electron of this spin comes (distance >
  /// 0) or goes: sets out_ and in_. Returns the ratio of weights' prefactors and of densities, 0 if they are too
  /// many.
  double rewrite(point from, double distance, int side, const stream_id& stream, std::uint64_t first);
  void offer(int side, bool with_slot);
  double wrapped(double tau) const;

  expansion parameters_;
  std::shared_ptr<const g0_table> g0_;
  occupation occupation_;
  vertex_strength strength_;
  double g_equal_, longest_step_;
  std::array<sector, 2> sectors_;
  std::vector<vertex> vertices_;
  std::vector<int> sites_;
  std::vector<double> taus_;
  std::optional<ends> ends_, next_;
  // Of the step that is tried.
  std::vector<int> out_, tried_out_;
  std::vector<vertex> in_, tried_in_;
  linalg::matrix<double> forward_, backward_;  // k x (vertices that come in, then a, then b)
};

}  // namespace plaq::dca
