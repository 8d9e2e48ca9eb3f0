#include "plaq/pic/poisson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/pic/conductors.hpp"
#include "plaq/pic/exchange.hpp"
#include "plaq/pic/neighbours.hpp"

namespace plaq::pic {

namespace {

/// Of one dimension: a point of a transform's block, and the node of a patch that it stands for.
struct pair {
  int in_block, in_patch;
  double sign;
};
using pairs = std::array<std::vector<pair>, 3>;

/// use(index in the block of the transform, index in a box of so many nodes, sign), in one order.
template <class Use>
void each_pair(const pairs& all, const fft::block& of, const std::array<int, 3>& extent, Use use) {
  for (const pair& z : all[2])
    for (const pair& y : all[1])
      for (const pair& x : all[0])
        use(std::size_t(x.in_block) + std::size_t(of.extent[0]) * (std::size_t(y.in_block) +
                                                                   std::size_t(of.extent[1]) * std::size_t(z.in_block)),
            std::size_t(x.in_patch) +
                std::size_t(extent[0]) * (std::size_t(y.in_patch) + std::size_t(extent[1]) * std::size_t(z.in_patch)),
            x.sign * y.sign * z.sign);
}
bool is_empty(const pairs& all) { return all[0].empty() || all[1].empty() || all[2].empty(); }

/// The lower part of L, with A = L L^T, in place of A's, row by row.
void cholesky(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j) check(sum > 0, "the potentials of charges on conductors are no positive matrix");
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
}
void solve_cholesky(const std::vector<double>& l, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= l[i * n + i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= l[i * n + k] * x[i];
  }
}

}  // namespace

class poisson::implementation {
 public:
  implementation(const plan& p, const comm::communicator& over, task::detail::pool_base& pool)
      : plan_(p),
        ranks_(over),
        mesh_("poisson", over, pool, extended(p), {.by = fft::cuts::pencils}),
        mine_(mesh_.blocks()) {
    std::vector<double> words;
    for (const auto& b : mine_)
      for (const auto* three : {&b.first, &b.extent}) words.insert(words.end(), three->begin(), three->end());
    for (const auto& of_rank : ranks_.all(words)) {
      auto& theirs = blocks_.emplace_back();
      for (auto next = of_rank.begin(); next != of_rank.end();) {
        auto& b = theirs.emplace_back();
        for (auto* three : {&b.first, &b.extent})
          for (int& n : *three) n = int(*next++);
      }
    }
    for (const auto& b : mine_) sides_.push_back(of_sides(b));
    find_eigenvalues();
    if (!p.conductors.empty()) find_capacities();
  }

  std::vector<piece> solve(const std::vector<piece>& rho) {
    const auto came = ranks_(sorted_out(rho));
    auto values = sides_;
    std::vector<std::vector<int>> asked(came.size());
    for (std::size_t r = 0; r < came.size(); ++r)
      for (auto next = came[r].begin(); next != came[r].end();) {
        asked[r].push_back(int(*next++));
        const block m = mesh_of(asked[r].back());
        for (std::size_t b = 0; b < mine_.size(); ++b)
          each_pair(own_in(m, mine_[b]), mine_[b], m.cells,
                    [&](std::size_t i, std::size_t, double sign) { values[b][i] += sign * *next++; });
      }
    if (!surface_.empty()) {
      auto first = values;
      apply(first);
      auto charge = on_surface(first);
      for (std::size_t i = 0; i < charge.size(); ++i) charge[i] = wanted_[i] - charge[i];
      solve_cholesky(factor_, charge);
      for (const image& one : images_) values[one.block][one.at] += one.sign * charge[one.of];
    }
    apply(values);
    std::vector<std::vector<double>> to(came.size());
    for (std::size_t r = 0; r < came.size(); ++r)
      for (const int patch : asked[r]) {
        const block m = mesh_of(patch);
        for (std::size_t b = 0; b < mine_.size(); ++b)
          each_pair(around_in(m, mine_[b]), mine_[b], extents(m),
                    [&](std::size_t i, std::size_t, double) { to[r].push_back(values[b][i]); });
      }
    return together(rho, ranks_(std::move(to)));
  }

 private:
  static std::array<int, 3> extended(const plan& p) {
    std::array<int, 3> n{1, 1, 1};
    for (int d = 0; d < p.dimensions; ++d) n[std::size_t(d)] = p.periodic(d) ? p.cells[d] : 2 * p.cells[d];
    return n;
  }
  static std::array<int, 3> extents(const block& m) { return {m.extent(0), m.extent(1), m.extent(2)}; }
  block mesh_of(int patch) const { return {plan_, point_of(patch_of(plan_, patch))}; }

  /// The node that a point of the mesh of transforms stands for in dimension d, and its sign: 0 on a conducting side.
  std::pair<int, double> node_of(int d, int point) const {
    const int n = plan_.cells[d];
    if (d >= plan_.dimensions || plan_.periodic(d)) return {point, 1};
    if (point % n == 0) return {point, 0};
    return point < n ? std::pair(point, 1.0) : std::pair(2 * n - point, -1.0);
  }

  /// Own cells of a patch and all points that have their charge.
  pairs own_in(const block& m, const fft::block& b) const {
    pairs out;
    for (int d = 0; d < 3; ++d)
      for (int i = 0; i < b.extent[std::size_t(d)]; ++i) {
        const auto [node, sign] = node_of(d, b.first[std::size_t(d)] + i);
        if (sign != 0 && node >= m.first[d] && node < m.first[d] + m.cells[d])
          out[std::size_t(d)].push_back({i, node - m.first[d], sign});
      }
    return out;
  }
  /// All nodes of a patch's block that have an unknown phi, and the point where it is.
  pairs around_in(const block& m, const fft::block& b) const {
    pairs out;
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

  /// For every rank: of each patch that has something for its blocks, or wants something of them, its number and
  /// charges.
  std::vector<std::vector<double>> sorted_out(const std::vector<piece>& rho) const {
    std::vector<std::vector<double>> to(blocks_.size());
    for (const piece& one : rho) {
      const block m = mesh_of(one.patch);
      for (std::size_t r = 0; r < blocks_.size(); ++r) {
        const std::size_t before = to[r].size();
        bool wants = false;
        to[r].push_back(one.patch);
        for (const auto& b : blocks_[r]) {
          each_pair(own_in(m, b), b, m.cells,
                    [&](std::size_t, std::size_t at, double) { to[r].push_back(one.values[at]); });
          wants = wants || !is_empty(around_in(m, b));
        }
        if (to[r].size() == before + 1 && !wants) to[r].pop_back();
      }
    }
    return to;
  }

  std::vector<piece> together(const std::vector<piece>& rho, const std::vector<std::vector<double>>& came) const {
    std::vector<piece> out;
    std::vector<std::size_t> next(came.size());
    for (const piece& one : rho) {
      const block m = mesh_of(one.patch);
      out.push_back({one.patch, on_sides(m)});
      for (std::size_t r = 0; r < blocks_.size(); ++r)
        for (const auto& b : blocks_[r])
          each_pair(around_in(m, b), b, extents(m),
                    [&](std::size_t, std::size_t at, double) { out.back().values[at] = came[r][next[r]++]; });
    }
    return out;
  }

  /// phi of the conducting sides in a patch's block, 0 elsewhere.
  std::vector<double> on_sides(const block& m) const {
    std::vector<double> out(m.size());
    for (int d = 0; d < plan_.dimensions; ++d)
      for (int side = 0; side < 2 && !plan_.periodic(d); ++side) {
        region r = with_guards(m);
        r.low[d] = (side ? plan_.cells[d] : 0) - m.first[d];
        r.high[d] = r.low[d] + 1;
        if (r.low[d] < -m.guard[d] || r.low[d] >= m.cells[d] + m.guard[d]) continue;
        each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
          std::fill_n(out.begin() + at, n, plan_.potentials[d][side]);
        });
      }
    return out;
  }

  /// What conducting sides at a potential put on the points beside them.
  std::vector<double> of_sides(const fft::block& b) const {
    std::vector<double> out(b.size());
    std::size_t n = 0;
    std::array<int, 3> at;
    for (at[2] = 0; at[2] < b.extent[2]; ++at[2])
      for (at[1] = 0; at[1] < b.extent[1]; ++at[1])
        for (at[0] = 0; at[0] < b.extent[0]; ++at[0], ++n) {
          double sign = 1, sum = 0;
          for (int d = 0; d < plan_.dimensions; ++d) {
            const auto [node, s] = node_of(d, b.first[std::size_t(d)] + at[std::size_t(d)]);
            sign *= s;
            if (plan_.periodic(d)) continue;
            const double h = plan_.spacing(d);
            if (node == 1) sum += plan_.potentials[d][0] / (h * h);
            if (node == plan_.cells[d] - 1) sum += plan_.potentials[d][1] / (h * h);
          }
          out[n] = sign * sum;
        }
    return out;
  }

  void find_eigenvalues() {
    const auto n = mesh_.extent();
    for (std::size_t d = 0; d < 3; ++d)
      for (int k = 0; k < n[d]; ++k) {
        const double half = 2 / plan_.spacing(int(d)) * std::sin(std::numbers::pi * k / n[d]);
        eigenvalues_[d].push_back(int(d) < plan_.dimensions ? half * half : 0);
      }
  }

  /// phi in place of rho, in the blocks of this rank.
  void apply(std::vector<std::vector<double>>& values) {
    const auto number = [this](const fft::block& b) {
      return std::size_t(std::ranges::find(mine_, b) - mine_.begin());
    };
    mesh_.apply_real(
        [&](const fft::block& b, std::span<double> to) { std::ranges::copy(values[number(b)], to.begin()); },
        [&](const fft::block& b, std::span<fft::complex> of) {
          std::size_t i = 0;
          for (int y = 0; y < b.extent[1]; ++y)
            for (int x = 0; x < b.extent[0]; ++x)
              for (int z = 0; z < b.extent[2]; ++z, ++i) {
                const std::array<int, 3> k{b.first[0] + x, b.first[1] + y, b.first[2] + z};
                bool even = false;  // of those that are odd, such waves have no part but rounding
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

  // Conductors in the box -------------------------------------------------------------------------------------------

  /// A point of a block of this rank, and which node of the surface it stands for.
  struct image {
    std::size_t block, at, of;
    double sign;
    bool itself;
  };

  void find_capacities() {
    const auto on_it = surface_of(plan_);
    if (on_it.size() > most_on_surface)
      throw input_error("conductors in the box have " + std::to_string(on_it.size()) +
                        " nodes on their surface; at most " + std::to_string(most_on_surface) +
                        " are allowed where fields.solver is electrostatic");
    for (const auto& [node, potential] : on_it) surface_.push_back(node), wanted_.push_back(potential);
    for (std::size_t b = 0; b < mine_.size(); ++b) {
      std::size_t n = 0;
      std::array<int, 3> at;
      for (at[2] = 0; at[2] < mine_[b].extent[2]; ++at[2])
        for (at[1] = 0; at[1] < mine_[b].extent[1]; ++at[1])
          for (at[0] = 0; at[0] < mine_[b].extent[0]; ++at[0], ++n) {
            point node;
            double sign = 1;
            bool itself = true;
            for (int d = 0; d < 3; ++d) {
              const auto [k, s] = node_of(d, mine_[b].first[std::size_t(d)] + at[std::size_t(d)]);
              node[d] = k, sign *= s, itself = itself && s > 0;
            }
            const auto found = std::ranges::lower_bound(surface_, number_of_node(plan_, node));
            if (sign != 0 && found != surface_.end() && *found == number_of_node(plan_, node))
              images_.push_back({b, n, std::size_t(found - surface_.begin()), sign, itself});
          }
    }
    const std::size_t all = surface_.size();
    factor_.resize(all * all);
    for (std::size_t i = 0; i < all; ++i) {
      std::vector<std::vector<double>> values;
      for (const auto& b : mine_) values.emplace_back(b.size());
      for (const image& one : images_)
        if (one.of == i) values[one.block][one.at] = one.sign;
      apply(values);
      std::ranges::copy(on_surface(values), factor_.begin() + std::ptrdiff_t(i * all));
    }
    cholesky(factor_, all);
  }

  /// On every rank: the values at the nodes of the surface.
  std::vector<double> on_surface(const std::vector<std::vector<double>>& values) {
    std::vector<double> mine, out(surface_.size());
    for (const image& one : images_)
      if (one.itself) mine.push_back(double(one.of)), mine.push_back(values[one.block][one.at]);
    for (const auto& of_rank : ranks_.all(mine))
      for (std::size_t i = 0; i < of_rank.size(); i += 2) out[std::size_t(of_rank[i])] = of_rank[i + 1];
    return out;
  }

  const plan& plan_;
  exchange ranks_;
  fft::mesh mesh_;
  const std::vector<fft::block> mine_;
  std::vector<std::vector<fft::block>> blocks_;  ///< of all ranks
  std::vector<std::vector<double>> sides_;       ///< of_sides of each of mine
  std::array<std::vector<double>, 3> eigenvalues_;
  std::vector<std::int64_t> surface_;
  std::vector<double> wanted_, factor_;
  std::vector<image> images_;
};

poisson::poisson(const plan& p, const comm::communicator& over, task::detail::pool_base& pool)
    : work_(std::make_unique<implementation>(p, over, pool)) {}
poisson::~poisson() = default;
std::vector<piece> poisson::solve(const std::vector<piece>& rho) { return work_->solve(rho); }

}  // namespace plaq::pic
