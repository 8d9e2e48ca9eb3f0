// A plasma on all ranks: a collection of patches, and the steps that they do.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/collection/balancing.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/loading.hpp"
#include "plaq/task/options.hpp"

namespace plaq::pic {

/// What of a plasma does not follow from its plan, and changes no result.
struct making {
  std::string backend = "fiber";
  task::options pool = {};
  bool single = false;  ///< precision; this one does change results
  std::vector<double> estimate =
      {};  ///< load of each patch, x fastest, by which they are dealt to ranks; empty: all alike
  std::filesystem::path folder = {};  ///< of a checkpoint to go on from, or empty
};

/// Names of the fields of a patch: "ex" ... "bz", "jx" ... "jz", "rho", "phi".
const std::vector<std::string>& field_names();

/// Particles as others see them: x [particle][dimension] in the box, u [particle][3]; ids where they are tracked.
struct seen {
  std::vector<double> x, u, w;
  std::vector<std::uint64_t> id;
};

/// Every rank makes the same calls of what is collective, in the same order. The first error of any rank is thrown
/// on all.
class plasma {
 public:
  virtual ~plasma() = default;

  const plan& what() const { return plan_; }
  std::int64_t step() const { return step_; }

  // Collective:

  /// After everything is loaded, before the first step: momenta go to -dt/2, and div E - rho is taken as a charge
  /// that stays where it is.
  virtual void start() = 0;
  /// n steps; a row for each, as record::names. With `gauss` Gauss's law is looked at in each. Throws
  /// runtime_failure where particles or charge are lost.
  virtual std::vector<double> advance(int n, bool gauss) = 0;
  virtual balanced balance(const balancing& how) = 0;
  /// From now on rank 0 writes what every balancing knew to a file, which `plaq balance` replays.
  virtual void record_loads(const std::filesystem::path& file) = 0;
  virtual void save(const std::filesystem::path& folder) = 0;
  /// The rank of each patch.
  virtual std::vector<int> homes() = 0;
  /// E becomes the field of the charge density, by Poisson's equation with the plan's potentials; what E was is
  /// lost. Every step of an electrostatic plan begins so.
  virtual void solve_poisson() = 0;
  /// After a step at whose end plan.shifted() is one more: the window moves by a cell. What comes in at its high
  /// side is empty, but for fields of set_ahead, until it is loaded; what came in and left is in the record of the next
  /// step.
  virtual void shift() = 0;
  /// Computes the charge density.
  virtual void charge() = 0;

  // Of the patches of this rank; input_error for another one:

  virtual std::vector<int> local() = 0;
  block mesh(int patch) const;
  /// The same where a window has moved to: with places that particles have.
  block mesh_now(int patch) const;
  virtual void load(int patch, std::size_t species, const loaded& what) = 0;
  /// [component][k][j][i] of E, then of B, x fastest.
  virtual void set_fields(int patch, std::span<const double> e, std::span<const double> b) = 0;
  /// The same of the plane of cells that comes in when the window moves next, for each patch at the high side of x.
  virtual void set_ahead(int patch, std::span<const double> e, std::span<const double> b) = 0;
  /// E from outside, which nothing in an electrostatic box changes: [component][k][j][i] with guard cells.
  virtual void set_outside(int patch, std::span<const double> e) = 0;
  /// [k][j][i] of the patch's own cells; phi is that of the last solution of Poisson's equation.
  virtual std::vector<double> field(int patch, std::string_view name) = 0;
  virtual seen particles(int patch, std::size_t species) = 0;

 protected:
  explicit plasma(const plan& p) : plan_(p) {}
  const plan plan_;
  std::int64_t step_ = 0;
};

/// Collective. Throws input_error for what the plan must not be.
std::unique_ptr<plasma> make_plasma(const plan& p, const comm::communicator& over, const making& how);

}  // namespace plaq::pic
