#include "plaq/pic/poisson/line.hpp"

#include <numeric>

#include "plaq/pic/mesh/conductor_nodes.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/poisson/rank_exchange.hpp"

namespace plaq::pic {

namespace {

class line_solver final : public poisson {
 public:
  line_solver(const plan& p, const comm::communicator& over, double scale)
      : plan_(p), ranks_(over), scale_(scale), electrode_(std::size_t(p.nodes(0)), -1), pivot_(electrode_.size(), 1) {
    if (p.periodic(0)) return;
    electrode_.front() = 0, electrode_.back() = 1;
    for (std::size_t c = 0; c < p.conductors.size(); ++c)
      for (const auto node : p.conductors[c].nodes)
        if (electrode_[std::size_t(node)] < 0 || electrode_[std::size_t(node)] > 1)
          electrode_[std::size_t(node)] = int(2 + c);
    weight_ = p.permittivity;
    weight_.resize(std::size_t(p.cells[0]), 1);
    for (const surface_edge& e : surface_edges(p)) weight_[std::size_t(e.node - (e.direction == 0))] /= e.part;
    for (std::size_t i = 1; i + 1 < pivot_.size(); ++i) {
      const double below = weight_[i - 1], above = weight_[i];
      if (electrode_[i] < 0) pivot_[i] = below + above - (electrode_[i - 1] < 0 ? below * below / pivot_[i - 1] : 0);
    }
  }

  std::vector<patch_values> solve(const std::vector<patch_values>& rho,
                                  const std::vector<double>& potentials) override {
    gather(rho);
    if (plan_.periodic(0))
      solve_periodic();
    else
      eliminate(potentials);
    std::vector<patch_values> out;
    for (const patch_values& source : rho) {
      const patch_grid m = mesh_of(source.patch);
      out.push_back({source.patch, std::vector<double>(m.size())});
      for (int i = 0; i < m.extent(0); ++i) {
        int node = m.first[0] + i - m.guard[0];
        if (plan_.periodic(0)) node = (node + plan_.cells[0]) % plan_.cells[0];
        if (node >= 0 && node < int(phi_.size())) out.back().values[std::size_t(i)] = phi_[std::size_t(node)];
      }
    }
    return out;
  }

 private:
  patch_grid mesh_of(int patch) const { return {plan_, point_of(patch_of(plan_, patch))}; }

  /// Sets phi_ to the charge density of all patches, times the square of a cell.
  void gather(const std::vector<patch_values>& rho) {
    std::vector<double> own;
    for (const patch_values& source : rho) {
      own.push_back(source.patch);
      own.insert(own.end(), source.values.begin(), source.values.end());
    }
    phi_.assign(electrode_.size(), 0);
    const double h2 = plan_.spacing(0) * plan_.spacing(0) / scale_;
    for (const auto& of_rank : ranks_.gather_all(own))
      for (auto next = of_rank.begin(); next != of_rank.end();) {
        const patch_grid m = mesh_of(int(*next++));
        for (int i = 0; i < m.cells[0]; ++i) phi_[std::size_t(m.first[0] + i)] = h2 * *next++;
      }
  }

  /// Solves e_{i-1} (phi_i - phi_{i-1}) + e_i (phi_i - phi_{i+1}) = h^2 rho_i between electrodes.
  void eliminate(const std::vector<double>& potentials) {
    const std::size_t n = phi_.size();
    for (std::size_t i = 0; i < n; ++i)
      if (electrode_[i] >= 0) phi_[i] = potentials[std::size_t(electrode_[i])];
    for (std::size_t i = 1; i < n; ++i)
      if (electrode_[i] < 0) phi_[i] = (phi_[i] + weight_[i - 1] * phi_[i - 1]) / pivot_[i];
    for (std::size_t i = n - 1; i-- > 0;)
      if (electrode_[i] < 0) phi_[i] += weight_[i] * phi_[i + 1] / pivot_[i];
  }

  /// Sums the field from one node to the next, then the potential; both have the mean 0.
  void solve_periodic() {
    const auto subtract_mean = [](std::vector<double>& of) {
      const double mean = std::accumulate(of.begin(), of.end(), 0.0) / double(of.size());
      for (double& x : of) x -= mean;
    };
    subtract_mean(phi_);
    std::partial_sum(phi_.begin(), phi_.end(), phi_.begin());  // of the field between nodes i and i + 1
    subtract_mean(phi_);
    double potential = 0;
    for (double& x : phi_) x = -std::exchange(potential, potential + x);
    subtract_mean(phi_);
  }

  const plan& plan_;
  rank_exchange ranks_;
  const double scale_;
  std::vector<int> electrode_;  ///< of each node: 0 and 1 are the sides; -1: phi is not known
  std::vector<double> pivot_;   ///< of elimination
  std::vector<double> weight_;  ///< of each cell: its permittivity over the part of it that is outside of conductors
  std::vector<double> phi_;     ///< at the nodes of the box
};

}  // namespace

std::unique_ptr<poisson> make_line_solver(const plan& p, const comm::communicator& over, double scale) {
  return std::make_unique<line_solver>(p, over, scale);
}

}  // namespace plaq::pic
