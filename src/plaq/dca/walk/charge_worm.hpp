// Moves that change the number of electrons: a pair c^dagger(a) c(b) of one spin walks and redraws the vertices that it
// passes.
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

/// Worm as spin_worm, with operators of one spin: an electron is created at a and annihilated at b, and b walks through
/// sites and times until it meets a again. Where b has moved forward in time there is one electron more, where backward
/// one less.
///
/// The vertices on an interval that b passes would have a small weight after the step. Each step therefore removes them
/// and draws others for the new occupation of the site (`occupation`). The weight is
///   (K/(2 beta Nc))^k |det N_up^-1 det N_down^-1 G_sigma(b, a)|,
/// det N_sigma^-1 G_sigma being the determinant of N_sigma^-1 with the column -g0(vertex, a), the row
/// -g0(b, vertex) (e^V - 1) and -g0(b, a) where they cross. A step from vertices R to A is accepted with the ratio of
/// weights times density(R)/density(A), the densities with which the reverse step and this one draw them.
class charge_worm {
 public:
  static constexpr double opening = 3;  ///< weight of a configuration with a worm relative to one without
  static constexpr double closing_probability = 0.06;  ///< of a step that tries to close the worm
  static constexpr double hop_probability = 0.3;       ///< of a step to another site at the same time
  static constexpr double reach = 5;                   ///< longest step in time, in vertices of a singly occupied site
  static constexpr int most_vertices = 14;             ///< largest number that one step removes or inserts
  static constexpr int numbers = 2 + most_vertices;    ///< blocks of random words for a step

  charge_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0);

  /// Makes an excursion from `vertices`, whose N_sigma are `n`, with the numbers first, ..., first + numbers (longest +
  /// 1) - 1 of the stream. Returns whether it closed; vertices() is then the new configuration.
  template <class Real>
  bool walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
            const stream_id& stream, std::uint64_t first, int longest);

  const std::vector<vertex>& vertices() const { return vertices_; }

  // Parts of a walk, public for the tests
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
  /// Returns the ratio of determinants with the worm `next`, or without one, the vertices `removals` (indices,
  /// ascending) removed and `insertions` inserted; apply() does it.
  double try_change(const std::optional<ends>& next, const std::vector<int>& removals,
                    const std::vector<vertex>& insertions);
  void apply();

 private:
  // Matrices of one spin direction: D^-1 with the worm's row and column first, then the vertices'. Without a worm of
  // this spin the first row and column are those of the unit matrix.
  struct sector {
    linalg::exchanged_inverse d;
    std::vector<double> strength;  // e^V - 1 of every vertex
    bool changes = false;
  };
  /// Redraws the vertices of a site from tau to tau + distance where an electron of this spin is added (distance > 0)
  /// or removed: sets removals_ and insertions_. Returns the ratio of the weights' prefactors and of the densities, 0
  /// if the vertices are too many.
  double redraw(point from, double distance, int side, const stream_id& stream, std::uint64_t first);
  void offer(int side, bool with_slot);
  double wrap(double tau) const;

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
  // The proposed step.
  std::vector<int> removals_, tried_removals_;
  std::vector<vertex> insertions_, tried_insertions_;
  linalg::matrix<double> forward_, backward_;  // k x (inserted vertices, then a, then b)
};

}  // namespace plaq::dca
