// Plasma on all ranks: a collection of patches, and their steps.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plaq/collection/balancing.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/fields/moving_charge.hpp"
#include "plaq/pic/processes/counts.hpp"
#include "plaq/pic/processes/loading.hpp"
#include "plaq/task/options.hpp"

namespace plaq::pic {

/// Options that do not belong to the plan; only the precision changes results.
struct plasma_options {
  std::string backend = "fiber";
  task::options pool = {};
  bool single = false;  ///< precision
  /// Estimated load of each patch, x fastest, that the first distribution to ranks balances; empty: all equal.
  std::vector<double> estimate = {};
  std::filesystem::path folder = {};  ///< of a checkpoint to resume, or empty
};

/// Names of the fields of a patch: "ex" ... "bz", "jx" ... "jz", "rho", "phi".
const std::vector<std::string>& field_names();

/// Copy of the particles of a patch: x [particle][dimension] in the box, u [particle][3]; cosine and sine of the
/// azimuth [particle][2] in a cylinder with modes; ids where they are tracked.
struct particle_view {
  std::vector<double> x, u, w, azimuth;
  std::vector<std::uint64_t> id;
};

/// Plasma of a plan. Every rank makes the same collective calls in the same order. The first error of any rank is
/// thrown on all.
class plasma {
 public:
  virtual ~plasma() = default;

  const plan& parameters() const { return plan_; }
  std::int64_t step() const { return step_; }

  // Collective:

  /// Prepares the first step, after everything is loaded: momenta move to -dt/2, and div E - rho becomes a static
  /// background charge.
  virtual void start() = 0;
  /// Advances n steps; returns a row for each, with the columns of record::names. With `gauss` Gauss's law is checked
  /// in each step. `potentials`: those of plan::electrode_potentials at the end of each step, [step][electrode]; empty:
  /// they stay those of the plan. Without `current` an electrostatic plan, which does not need J, has none at the end.
  /// Throws runtime_failure where particles or charge are lost.
  virtual std::vector<double> advance(int n, bool gauss, std::span<const double> potentials = {},
                                      bool current = true) = 0;
  /// Moves patches between ranks for load balance.
  virtual balance_result balance(const balance_options& options) = 0;
  /// Starts to record the input of every balancing in a file on rank 0, which `plaq balance` replays.
  virtual void record_loads(const std::filesystem::path& file) = 0;
  /// Writes a checkpoint.
  virtual void save(const std::filesystem::path& folder) = 0;
  /// Returns the rank of each patch.
  virtual std::vector<int> homes() = 0;
  /// Replaces E by the field of the charge density, by Poisson's equation with the plan's potentials, as every step of
  /// an electrostatic plan does.
  virtual void solve_poisson() = 0;
  /// Adds to E and B the field of a species' charge that moves as a whole; other species' charges are ignored.
  virtual void add_moving_field(std::size_t species, const drift_along& motion) = 0;
  /// Moves the window by a cell, after a step at whose end plan::window_shift is one more. The cells that enter at its
  /// high side are empty, but for fields of set_incoming_fields, until they are loaded. Particles that enter and leave
  /// are in the record of the next step.
  virtual void shift_window() = 0;
  /// Computes the charge density.
  virtual void compute_charge() = 0;

  // For the patches of this rank; input_error for another one:

  virtual std::vector<int> local_patches() = 0;
  /// Returns the grid of a patch at the start.
  patch_grid mesh(int patch) const;
  /// Returns the grid of a patch where a window has moved to, with the positions of its particles.
  patch_grid shifted_mesh(int patch) const;
  virtual void load(int patch, std::size_t species, const particle_source& source) = 0;
  /// Sets E and B, each [component][k][j][i], x fastest. `part`: 0, or 1 and up for those of fields::modes.
  virtual void set_fields(int patch, std::span<const double> e, std::span<const double> b, int part = 0) = 0;
  /// Sets E and B of the plane of cells that enters when the window moves next, for a patch at the high side of x.
  virtual void set_incoming_fields(int patch, std::span<const double> e, std::span<const double> b) = 0;
  /// Returns a field in the patch's own cells, [k][j][i]; phi is that of the last solution of Poisson's equation.
  virtual std::vector<double> field(int patch, std::string_view name, int part = 0) = 0;
  virtual particle_view particles(int patch, std::size_t species) = 0;
  /// See counts.hpp.
  virtual std::pair<std::size_t, double> bound_of_moment(int patch, std::size_t species, moment of) = 0;
  virtual std::vector<double> count_at_nodes(int patch, std::size_t species, moment of, int unit) = 0;
  virtual std::vector<double> count_in_bins(int patch, std::size_t species, const std::vector<histogram_axis>& axes,
                                            double offset, int unit) = 0;

 protected:
  explicit plasma(const plan& p) : plan_(p) {}
  const plan plan_;
  std::int64_t step_ = 0;
};

/// Makes a plasma. Collective. Throws input_error where the plan is not valid.
std::unique_ptr<plasma> make_plasma(const plan& p, const comm::communicator& over, const plasma_options& options);

}  // namespace plaq::pic
