#include "plaq/pic/poisson/cylinder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/fft/lines.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/poisson/fourier.hpp"
#include "plaq/pic/poisson/rank_exchange.hpp"
#include "plaq/pic/poisson/surface.hpp"

namespace plaq::pic {

namespace {

/// Nodes below the outer side are unknown, [j][i], z fastest. The equation of a node is over 2 pi dz:
/// (j - 1/2) (phi_j - phi_{j-1}) + (j + 1/2) (phi_j - phi_{j+1}) + v_j (-d^2 phi / dz^2) = v_j rho, with the volumes
/// v_0 = dr^2 / 8 and v_j = j dr^2, without the first term at j = 0.
class cylinder_solver final : public poisson {
 public:
  cylinder_solver(const plan& p, const comm::communicator& over, double scale)
      : plan_(p),
        over_square_(scale / (p.spacing(0) * p.spacing(0))),
        ranks_(over),
        nz_(p.nodes(0)),
        nr_(p.cells[1]),
        length_(p.periodic(0) ? nz_ : 2 * p.cells[0]),
        waves_(length_ / 2 + 1),
        lines_(std::size_t(length_)) {
    const double dr = p.spacing(1);
    for (int j = 0; j < nr_; ++j) volume_.push_back(dr * dr * (j == 0 ? 0.125 : j));
    for (int k = 0; k < waves_; ++k) {
      const double sine = std::sin(std::numbers::pi * k / length_);
      eigenvalue_.push_back(4 * over_square_ * sine * sine);
    }
    over_pivot_.resize(std::size_t(nr_ * waves_));
    for (int j = 0; j < nr_; ++j)
      for (int k = 0; k < waves_; ++k) {
        double pivot = face(j) + face(j - 1) + eigenvalue_[std::size_t(k)] * volume_[std::size_t(j)];
        if (j > 0) pivot -= face(j - 1) * face(j - 1) * over_pivot_[wave(j - 1, k)];
        over_pivot_[wave(j, k)] = 1 / pivot;
      }
    if (!p.conductors.empty()) factor_surface_matrix(scale);
  }

  std::vector<patch_values> solve(const std::vector<patch_values>& rho,
                                  const std::vector<double>& potentials) override {
    auto charge = gather(rho);
    std::vector<double> own_charge;  // rho of the nodes with equations of their own
    for (const auto node : surface_.unknowns)
      own_charge.push_back(charge[std::size_t(node)] / volume_[std::size_t(node / nz_)]);
    add_sides(potentials, charge);
    auto phi = potential_of(charge);
    if (!surface_.unknowns.empty()) {
      std::vector<double> more(surface_.unknowns.size());
      for (std::size_t n = 0; n < more.size(); ++n) {
        const surface_condition& is = surface_.conditions[n];
        more[n] = is.charge_factor * own_charge[n] - sum_of(is, phi);
        for (const auto& [electrode, factor] : is.electrodes) more[n] -= factor * potentials[electrode];
      }
      factors_.solve(more);
      for (std::size_t n = 0; n < more.size(); ++n) charge[std::size_t(surface_.unknowns[n])] += more[n];
      phi = potential_of(charge);
    }
    std::vector<patch_values> out;
    for (const patch_values& source : rho) out.push_back({source.patch, in_patch(source.patch, phi, potentials)});
    return out;
  }

 private:
  /// Factor of the difference between nodes j and j + 1.
  static double face(int j) { return j < 0 ? 0 : j + 0.5; }
  std::size_t node(int i, int j) const { return std::size_t(j) * std::size_t(nz_) + std::size_t(i); }
  std::size_t wave(int j, int k) const { return std::size_t(j) * std::size_t(waves_) + std::size_t(k); }
  patch_grid mesh_of(int patch) const { return {plan_, point_of(patch_of(plan_, patch))}; }

  /// Returns v rho at all nodes from the charge densities of all patches.
  std::vector<double> gather(const std::vector<patch_values>& rho) {
    std::vector<double> own;
    for (const patch_values& source : rho) {
      own.push_back(source.patch);
      own.insert(own.end(), source.values.begin(), source.values.end());
    }
    std::vector<double> out(std::size_t(nz_ * nr_));
    for (const auto& of_rank : ranks_.gather_all(own))
      for (auto next = of_rank.begin(); next != of_rank.end();) {
        const patch_grid m = mesh_of(int(*next++));
        for (int j = 0; j < m.cells[1]; ++j)
          for (int i = 0; i < m.cells[0]; ++i)
            out[node(m.first[0] + i, m.first[1] + j)] = volume_[std::size_t(m.first[1] + j)] * *next++;
      }
    return out;
  }

  /// Replaces the potentials of conducting sides by charges at the nodes before them.
  void add_sides(const std::vector<double>& potentials, std::vector<double>& charge) const {
    for (int i = 0; i < nz_; ++i) charge[node(i, nr_ - 1)] += face(nr_ - 1) * potentials[3];
    if (plan_.periodic(0)) return;
    for (int j = 0; j < nr_; ++j) {
      charge[node(1, j)] += over_square_ * volume_[std::size_t(j)] * potentials[0];
      charge[node(nz_ - 2, j)] += over_square_ * volume_[std::size_t(j)] * potentials[1];
    }
  }

  /// Returns phi at all nodes, 0 on the sides, of charges v rho.
  std::vector<double> potential_of(const std::vector<double>& charge) const {
    std::vector<fft::complex> waves(over_pivot_.size());
    std::vector<double> line(static_cast<std::size_t>(length_));
    const auto row = [&](int j) { return std::span(waves).subspan(wave(j, 0), std::size_t(waves_)); };
    for (int j = 0; j < nr_; ++j) {
      if (plan_.periodic(0)) {
        std::copy_n(charge.begin() + std::ptrdiff_t(node(0, j)), nz_, line.begin());
      } else {
        line[0] = line[std::size_t(nz_ - 1)] = 0;
        for (int i = 1; i < nz_ - 1; ++i) {
          line[std::size_t(i)] = charge[node(i, j)];
          line[std::size_t(length_ - i)] = -charge[node(i, j)];
        }
      }
      lines_.forward(line, row(j));
      for (int k = 0; k < waves_ && j > 0; ++k)
        waves[wave(j, k)] += face(j - 1) * over_pivot_[wave(j - 1, k)] * waves[wave(j - 1, k)];
    }
    std::vector<double> phi(charge.size());
    for (int j = nr_; j-- > 0;) {
      for (int k = 0; k < waves_; ++k) {
        fft::complex& of = waves[wave(j, k)];
        if (j + 1 < nr_) of += face(j) * waves[wave(j + 1, k)];
        of *= over_pivot_[wave(j, k)];
      }
    }
    for (int j = 0; j < nr_; ++j) {
      lines_.backward(row(j), line, 1.0 / length_);
      std::copy_n(line.begin(), nz_, phi.begin() + std::ptrdiff_t(node(0, j)));
      if (!plan_.periodic(0)) phi[node(0, j)] = phi[node(nz_ - 1, j)] = 0;
    }
    return phi;
  }

  /// Returns phi in all cells of a patch grid within the box, with that of the sides.
  std::vector<double> in_patch(int patch, const std::vector<double>& phi, const std::vector<double>& potentials) const {
    const patch_grid m = mesh_of(patch);
    std::vector<double> out(m.size());
    for (int j = -m.guard[1]; j < m.cells[1] + m.guard[1]; ++j)
      for (int i = -m.guard[0]; i < m.cells[0] + m.guard[0]; ++i) {
        int z = m.first[0] + i;
        const int r = m.first[1] + j;
        if (plan_.periodic(0)) z = (z % nz_ + nz_) % nz_;
        if (z < 0 || z >= nz_ || r < 0 || r > nr_) continue;
        double& value = out[std::size_t(m.index({i, j, 0}))];
        if (r == nr_)
          value = potentials[3];
        else if (!plan_.periodic(0) && (z == 0 || z == nz_ - 1))
          value = potentials[z == 0 ? 0 : 1];
        else
          value = phi[node(z, r)];
      }
    return out;
  }

  /// Computes the conditions of unit charges at all nodes beside conductors, and factors their matrix.
  void factor_surface_matrix(double scale) {
    surface_ = surface_nodes(plan_, {scale, 1, 1});
    const std::size_t all = surface_.unknowns.size();
    if (all > max_surface_nodes)
      throw input_error("conductors in the box have " + std::to_string(all) + " nodes on their surface; at most " +
                        std::to_string(max_surface_nodes) + " are allowed where fields.solver is electrostatic");
    std::vector<double> matrix(all * all);
    for (std::size_t k = 0; k < all; ++k) {
      std::vector<double> charge(std::size_t(nz_ * nr_));
      charge[std::size_t(surface_.unknowns[k])] = 1;
      const auto phi = potential_of(charge);
      for (std::size_t i = 0; i < all; ++i) matrix[i * all + k] = sum_of(surface_.conditions[i], phi);
    }
    factors_ = dense_factors(std::move(matrix), all);
  }

  /// Returns the sum of a condition over nodes.
  double sum_of(const surface_condition& is, const std::vector<double>& phi) const {
    double sum = 0;
    for (const auto& [probe, factor] : is.nodes) sum += factor * phi[std::size_t(surface_.probes[probe])];
    return sum;
  }

  const plan& plan_;
  const double over_square_;  ///< factor of the second difference along z
  rank_exchange ranks_;
  const int nz_, nr_;         ///< nodes along z, cells in r
  const int length_, waves_;  ///< of a line of the transform
  const fft::lines lines_;
  std::vector<double> volume_, eigenvalue_, over_pivot_;  ///< by j, by wave, by both
  surface_nodes surface_;                                 ///< whose numbers of nodes are those of `node`
  dense_factors factors_;
};

}  // namespace

std::unique_ptr<poisson> make_cylinder_solver(const plan& p, const comm::communicator& over, double scale) {
  return std::make_unique<cylinder_solver>(p, over, scale);
}

}  // namespace plaq::pic
