#include "plaq/pic/poisson/fourier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/permittivity.hpp"
#include "plaq/pic/poisson/rank_exchange.hpp"
#include "plaq/pic/poisson/surface.hpp"

namespace plaq::pic {

namespace {

/// Point of a transform's block in one dimension, and the node of a patch that it stands for.
struct index_pair {
  int in_block, in_patch;
  double sign;
};
using index_pairs = std::array<std::vector<index_pair>, 3>;

/// Calls use(index in the block of the transform, index in a box of this extent, sign), in a fixed order.
template <class Use>
void for_each_pair(const index_pairs& all, const fft::block& of, const std::array<int, 3>& extent, Use use) {
  for (const index_pair& z : all[2])
    for (const index_pair& y : all[1])
      for (const index_pair& x : all[0])
        use(std::size_t(x.in_block) + std::size_t(of.extent[0]) * (std::size_t(y.in_block) +
                                                                   std::size_t(of.extent[1]) * std::size_t(z.in_block)),
            std::size_t(x.in_patch) +
                std::size_t(extent[0]) * (std::size_t(y.in_patch) + std::size_t(extent[1]) * std::size_t(z.in_patch)),
            x.sign * y.sign * z.sign);
}
bool is_empty(const index_pairs& all) { return all[0].empty() || all[1].empty() || all[2].empty(); }

class fourier_solver final : public poisson {
 public:
  fourier_solver(const plan& p, const comm::communicator& over, task::detail::pool_base& pool,
                 const std::array<double, 3>& scale)
      : plan_(p),
        ranks_(over),
        mesh_("poisson", over, pool, transform_extent(p), {.by = fft::cuts::pencils}),
        local_blocks_(mesh_.blocks()) {
    std::vector<double> words;
    for (const auto& b : local_blocks_)
      for (const auto* three : {&b.first, &b.extent}) words.insert(words.end(), three->begin(), three->end());
    for (const auto& of_rank : ranks_.gather_all(words)) {
      auto& of_that_rank = blocks_.emplace_back();
      for (auto next = of_rank.begin(); next != of_rank.end();) {
        auto& b = of_that_rank.emplace_back();
        for (auto* three : {&b.first, &b.extent})
          for (int& n : *three) n = int(*next++);
      }
    }
    for (std::size_t b = 0; b < local_blocks_.size(); ++b) find_side_sources(b);
    find_eigenvalues(scale);
    if (!p.conductors.empty() || !p.permittivity.empty()) factor_surface_matrix(scale);
  }

  std::vector<patch_values> solve(const std::vector<patch_values>& rho,
                                  const std::vector<double>& potentials) override {
    const auto requests = ranks_(messages_for_blocks(rho));
    std::vector<std::vector<double>> values;
    for (const auto& b : local_blocks_) values.emplace_back(b.size());
    std::vector<std::vector<int>> patches(requests.size());
    for (std::size_t r = 0; r < requests.size(); ++r)
      for (auto next = requests[r].begin(); next != requests[r].end();) {
        patches[r].push_back(int(*next++));
        const patch_grid m = mesh_of(patches[r].back());
        for (std::size_t b = 0; b < local_blocks_.size(); ++b)
          for_each_pair(charge_pairs(m, local_blocks_[b]), local_blocks_[b], m.cells,
                        [&](std::size_t i, std::size_t, double sign) { values[b][i] += sign * *next++; });
      }
    std::vector<double> charge;
    if (!surface_.unknowns.empty()) charge = at_nodes(unknown_images_, values, surface_.unknowns.size());
    for (const dielectric_point& d : dielectric_points_) values[d.block][d.point] *= d.factor;
    for (const side_source& s : side_sources_) values[s.block][s.point] += s.factor * potentials[s.side];
    if (!charge.empty()) {
      auto without_surface = values;
      solve_blocks(without_surface);
      const auto phi = at_nodes(probe_images_, without_surface, surface_.probes.size());
      for (std::size_t i = 0; i < charge.size(); ++i) {
        const surface_condition& is = surface_.conditions[i];
        charge[i] = is.charge_factor * charge[i] - sum_of(is, phi);
        for (const auto& [electrode, factor] : is.electrodes) charge[i] -= factor * potentials[electrode];
      }
      factors_.solve(charge);
      for (const image& i : unknown_images_) values[i.block][i.point] += i.sign * charge[i.node];
    }
    solve_blocks(values);
    std::vector<std::vector<double>> to(requests.size());
    for (std::size_t r = 0; r < requests.size(); ++r)
      for (const int patch : patches[r]) {
        const patch_grid m = mesh_of(patch);
        for (std::size_t b = 0; b < local_blocks_.size(); ++b)
          for_each_pair(potential_pairs(m, local_blocks_[b]), local_blocks_[b], extents(m),
                        [&](std::size_t i, std::size_t, double) { to[r].push_back(values[b][i]); });
      }
    return assemble_potentials(rho, potentials, ranks_(std::move(to)));
  }

 private:
  /// Returns the mesh of the transform: twice the length between conducting sides.
  static std::array<int, 3> transform_extent(const plan& p) {
    std::array<int, 3> n{1, 1, 1};
    for (int d = 0; d < p.dimensions; ++d) n[std::size_t(d)] = p.periodic(d) ? p.cells[d] : 2 * p.cells[d];
    return n;
  }
  static std::array<int, 3> extents(const patch_grid& m) { return {m.extent(0), m.extent(1), m.extent(2)}; }
  patch_grid mesh_of(int patch) const { return {plan_, point_of(patch_of(plan_, patch))}; }

  /// Returns the node that a point of the transform's mesh stands for in dimension d, and its sign; 0 on a conducting
  /// side.
  std::pair<int, double> node_of(int d, int point) const {
    const int n = plan_.cells[d];
    if (d >= plan_.dimensions || plan_.periodic(d)) return {point, 1};
    if (point % n == 0) return {point, 0};
    return point < n ? std::pair(point, 1.0) : std::pair(2 * n - point, -1.0);
  }

  /// Returns own cells of a patch and all points that have their charge.
  index_pairs charge_pairs(const patch_grid& m, const fft::block& b) const {
    index_pairs out;
    for (int d = 0; d < 3; ++d)
      for (int i = 0; i < b.extent[std::size_t(d)]; ++i) {
        const auto [node, sign] = node_of(d, b.first[std::size_t(d)] + i);
        if (sign != 0 && node >= m.first[d] && node < m.first[d] + m.cells[d])
          out[std::size_t(d)].push_back({i, node - m.first[d], sign});
      }
    return out;
  }
  /// Returns all nodes of a patch grid with an unknown phi, and the point of each.
  index_pairs potential_pairs(const patch_grid& m, const fft::block& b) const {
    index_pairs out;
    for (int d = 0; d < 3; ++d)
      for (int i = -m.guard[d]; i < m.cells[d] + m.guard[d]; ++i) {
        int node = m.first[d] + i;
        if (d < plan_.dimensions && plan_.periodic(d)) node = (node % plan_.cells[d] + plan_.cells[d]) % plan_.cells[d];
        const bool inside = d >= plan_.dimensions || plan_.periodic(d) || (node > 0 && node < plan_.cells[d]);
        const int at = node - b.first[std::size_t(d)];
        if (inside && at >= 0 && at < b.extent[std::size_t(d)]) out[std::size_t(d)].push_back({at, i + m.guard[d], 1});
      }
    return out;
  }

  /// Returns for every rank the number and charges of each patch that overlaps its blocks, by charge or potential.
  std::vector<std::vector<double>> messages_for_blocks(const std::vector<patch_values>& rho) const {
    std::vector<std::vector<double>> to(blocks_.size());
    for (const patch_values& source : rho) {
      const patch_grid m = mesh_of(source.patch);
      for (std::size_t r = 0; r < blocks_.size(); ++r) {
        const std::size_t before = to[r].size();
        bool has_potential = false;
        to[r].push_back(source.patch);
        for (const auto& b : blocks_[r]) {
          for_each_pair(charge_pairs(m, b), b, m.cells,
                        [&](std::size_t, std::size_t at, double) { to[r].push_back(source.values[at]); });
          has_potential = has_potential || !is_empty(potential_pairs(m, b));
        }
        if (to[r].size() == before + 1 && !has_potential) to[r].pop_back();
      }
    }
    return to;
  }

  /// Returns phi of each patch from the answers of all ranks.
  std::vector<patch_values> assemble_potentials(const std::vector<patch_values>& rho,
                                                const std::vector<double>& potentials,
                                                const std::vector<std::vector<double>>& answers) const {
    std::vector<patch_values> out;
    std::vector<std::size_t> next(answers.size());
    for (const patch_values& source : rho) {
      const patch_grid m = mesh_of(source.patch);
      out.push_back({source.patch, side_potentials(m, potentials)});
      for (std::size_t r = 0; r < blocks_.size(); ++r)
        for (const auto& b : blocks_[r])
          for_each_pair(potential_pairs(m, b), b, extents(m),
                        [&](std::size_t, std::size_t at, double) { out.back().values[at] = answers[r][next[r]++]; });
    }
    return out;
  }

  /// Returns phi of the conducting sides in a patch grid, 0 elsewhere.
  std::vector<double> side_potentials(const patch_grid& m, const std::vector<double>& potentials) const {
    std::vector<double> out(m.size());
    for (int d = 0; d < plan_.dimensions; ++d)
      for (int side = 0; side < 2 && !plan_.periodic(d); ++side) {
        region r = with_guards(m);
        r.low[d] = (side ? plan_.cells[d] : 0) - m.first[d];
        r.high[d] = r.low[d] + 1;
        if (r.low[d] < -m.guard[d] || r.low[d] >= m.cells[d] + m.guard[d]) continue;
        for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
          std::fill_n(out.begin() + at, n, potentials[std::size_t(2 * d + side)]);
        });
      }
    return out;
  }

  /// Charge beside a conducting side that replaces its potential, over that potential.
  struct side_source {
    std::size_t block, point, side;
    double factor;
  };

  void find_side_sources(std::size_t block) {
    const fft::block& b = local_blocks_[block];
    std::size_t n = 0;
    std::array<int, 3> at;
    for (at[2] = 0; at[2] < b.extent[2]; ++at[2])
      for (at[1] = 0; at[1] < b.extent[1]; ++at[1])
        for (at[0] = 0; at[0] < b.extent[0]; ++at[0], ++n) {
          std::array<int, 3> node{};
          double sign = 1;
          for (int d = 0; d < plan_.dimensions; ++d) {
            const auto [k, s] = node_of(d, b.first[std::size_t(d)] + at[std::size_t(d)]);
            node[std::size_t(d)] = k, sign *= s;
          }
          for (int d = 0; d < plan_.dimensions && sign != 0; ++d)
            for (int side = 0; side < 2 && !plan_.periodic(d); ++side)
              if (node[std::size_t(d)] == (side ? plan_.cells[d] - 1 : 1))
                side_sources_.push_back(
                    {block, n, std::size_t(2 * d + side), sign / (plan_.spacing(d) * plan_.spacing(d))});
        }
  }

  /// Computes the eigenvalues of -scale_d d^2/dx_d^2.
  void find_eigenvalues(const std::array<double, 3>& scale) {
    const auto n = mesh_.extent();
    for (std::size_t d = 0; d < 3; ++d)
      for (int k = 0; k < n[d]; ++k) {
        const double half = 2 / plan_.spacing(int(d)) * std::sin(std::numbers::pi * k / n[d]);
        eigenvalues_[d].push_back(int(d) < plan_.dimensions ? scale[d] * half * half : 0);
      }
  }

  /// Replaces rho by phi in the blocks of this rank.
  void solve_blocks(std::vector<std::vector<double>>& values) {
    const auto number = [this](const fft::block& b) {
      return std::size_t(std::ranges::find(local_blocks_, b) - local_blocks_.begin());
    };
    mesh_.apply_real(
        [&](const fft::block& b, std::span<double> to) { std::ranges::copy(values[number(b)], to.begin()); },
        [&](const fft::block& b, std::span<fft::complex> of) {
          std::size_t i = 0;
          for (int z = 0; z < b.extent[2]; ++z)
            for (int y = 0; y < b.extent[1]; ++y)
              for (int x = 0; x < b.extent[0]; ++x, ++i) {
                const std::array<int, 3> k{b.first[0] + x, b.first[1] + y, b.first[2] + z};
                bool even = false;  // such waves have no part in an odd function but rounding
                double sum = 0;
                for (std::size_t d = 0; d < 3; ++d) {
                  sum += eigenvalues_[d][std::size_t(k[d])];
                  even = even || (int(d) < plan_.dimensions && !plan_.periodic(int(d)) && k[d] % plan_.cells[d] == 0);
                }
                of[i] = sum > 0 && !even ? of[i] / sum : 0;
              }
        },
        [&](const fft::block& b, std::span<const double> from) { std::ranges::copy(from, values[number(b)].begin()); });
  }

  // Surfaces in the box ----------------------------------------------------------------------------------------------

  /// Point of a block of this rank that stands for a node of a list; `original`: it is the node itself, no image.
  struct image {
    std::size_t block, point, node;
    double sign;
    bool original;
  };
  /// Point of a block where rho is divided by the permittivity, or is not used.
  struct dielectric_point {
    std::size_t block, point;
    double factor;
  };

  /// Calls use(block, point, node, sign, original) for all points of this rank.
  template <class Use>
  void for_each_point(Use use) const {
    for (std::size_t b = 0; b < local_blocks_.size(); ++b) {
      std::size_t n = 0;
      std::array<int, 3> at;
      for (at[2] = 0; at[2] < local_blocks_[b].extent[2]; ++at[2])
        for (at[1] = 0; at[1] < local_blocks_[b].extent[1]; ++at[1])
          for (at[0] = 0; at[0] < local_blocks_[b].extent[0]; ++at[0], ++n) {
            point node;
            double sign = 1;
            bool original = true;
            for (int d = 0; d < 3; ++d) {
              const auto [k, s] = node_of(d, local_blocks_[b].first[std::size_t(d)] + at[std::size_t(d)]);
              node[d] = k, sign *= s, original = original && s > 0;
            }
            if (sign != 0) use(b, n, node, sign, original);
          }
    }
  }

  /// Computes the conditions of unit charges on all nodes of surfaces, and factors their matrix.
  void factor_surface_matrix(const std::array<double, 3>& scale) {
    surface_ = surface_nodes(plan_, scale);
    const std::size_t all = surface_.unknowns.size();
    if (all > max_surface_nodes)
      throw input_error("conductors and dielectrics in the box have " + std::to_string(all) +
                        " nodes on their surface; at most " + std::to_string(max_surface_nodes) +
                        " are allowed where fields.solver is electrostatic");
    for_each_point([&](std::size_t b, std::size_t n, const point& node, double sign, bool original) {
      const auto number = number_of_node(plan_, node);
      const auto add = [&](const std::vector<std::int64_t>& list, std::vector<image>& to) {
        const auto entry = std::ranges::lower_bound(list, number);
        if (entry != list.end() && *entry == number)
          to.push_back({b, n, std::size_t(entry - list.begin()), sign, original});
      };
      add(surface_.unknowns, unknown_images_), add(surface_.probes, probe_images_);
      if (plan_.permittivity.empty()) return;
      const double permittivity = node_permittivity(plan_, node);
      if (permittivity != 1) dielectric_points_.push_back({b, n, permittivity > 0 ? 1 / permittivity : 0});
    });
    std::vector<double> matrix(all * all);
    for (std::size_t k = 0; k < all; ++k) {
      std::vector<std::vector<double>> values;
      for (const auto& b : local_blocks_) values.emplace_back(b.size());
      for (const image& i : unknown_images_)
        if (i.node == k) values[i.block][i.point] = i.sign;
      solve_blocks(values);
      const auto phi = at_nodes(probe_images_, values, surface_.probes.size());
      for (std::size_t i = 0; i < all; ++i) matrix[i * all + k] = sum_of(surface_.conditions[i], phi);
    }
    factors_ = dense_factors(std::move(matrix), all);
  }

  /// Returns the sum of a condition over nodes.
  static double sum_of(const surface_condition& is, const std::vector<double>& phi) {
    double sum = 0;
    for (const auto& [node, factor] : is.nodes) sum += factor * phi[node];
    return sum;
  }

  /// Returns the values at all nodes of a list, on every rank.
  std::vector<double> at_nodes(const std::vector<image>& points, const std::vector<std::vector<double>>& values,
                               std::size_t count) {
    std::vector<double> local, out(count);
    for (const image& i : points)
      if (i.original) local.push_back(double(i.node)), local.push_back(values[i.block][i.point]);
    for (const auto& of_rank : ranks_.gather_all(local))
      for (std::size_t i = 0; i < of_rank.size(); i += 2) out[std::size_t(of_rank[i])] = of_rank[i + 1];
    return out;
  }

  const plan& plan_;
  rank_exchange ranks_;
  fft::mesh mesh_;
  const std::vector<fft::block> local_blocks_;
  std::vector<std::vector<fft::block>> blocks_;  ///< of all ranks
  std::vector<side_source> side_sources_;
  std::array<std::vector<double>, 3> eigenvalues_;
  surface_nodes surface_;
  std::vector<image> unknown_images_, probe_images_;  ///< of surface_
  std::vector<dielectric_point> dielectric_points_;
  dense_factors factors_;
};

}  // namespace

std::unique_ptr<poisson> make_fourier_solver(const plan& p, const comm::communicator& over,
                                             task::detail::pool_base& pool, const std::array<double, 3>& scale) {
  return std::make_unique<fourier_solver>(p, over, pool, scale);
}

}  // namespace plaq::pic
