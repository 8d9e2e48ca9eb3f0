#include "plaq/lqcd/lattice/contraction.hpp"

#include <algorithm>
#include <array>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/baryon_kernel.hpp"
#include "plaq/lqcd/lattice/contraction_kernel.hpp"
#include "plaq/lqcd/lattice/meson_kernel.hpp"
#include "plaq/lqcd/lattice/site_sum.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;
using detail::add_product, detail::chunk;

constexpr int spins = 4, colours = 3, pairs = spins * spins, sites_of_cube = detail::cube_sites;
using cube = std::array<std::int64_t, sites_of_cube>;  // sites of a rank's box

/// Returns sums of `count` numbers for each time slice of the whole lattice, [t, number]. add(t, begin, end, sums) adds
/// those of items of a slice t of this rank to real and imaginary parts.
template <class Add>
std::vector<number> sum_slices(context& ctx, const lattice& lat, int count, std::int64_t items, Add&& add) {
  std::vector<number> values;
  ctx.workers.run("contract", [&] {
    for (int t = 0; t < lat.extents[0]; ++t) {
      const int here = t - lat.origin()[0];
      const bool is_local = here >= 0 && here < lat.local()[0];
      const auto sums = sum_over_sites(ctx, "contract", 2 * count, is_local ? items : 0,
                                       [&](std::size_t begin, std::size_t end, auto& parts) {
                                         add(here, std::int64_t(begin), std::int64_t(end), parts);
                                       });
      for (int i = 0; i < count; ++i) values.emplace_back(sums[2 * i], sums[2 * i + 1]);
    }
  });
  return values;
}

/// Returns [momentum, t, number] of values(sites, out, workspace), which sets `numbers` in chunks on each site of a
/// cube. The workspace has `more` numbers.
template <class Values>
std::vector<number> project(context& ctx, const lattice& lat, const momentum_phases& phases, int numbers,
                            std::size_t more, Values&& values) {
  const coordinates local = lat.local(), cubes{1, local[1] / 2, local[2] / 2, local[3] / 2};
  const std::int64_t slice = product(local) / local[0];
  const int chunks = (numbers + chunk - 1) / chunk, size = 2 * chunk * chunks, count = phases.count * numbers;
  const auto sums = sum_slices(ctx, lat, count, product(cubes), [&](int t, auto begin, auto end, auto& parts) {
    std::vector<double> on_sites(std::size_t(sites_of_cube) * size), of_cube(std::size_t(phases.count) * size),
        turns(std::size_t(sites_of_cube) * 2 * phases.count), workspace(more);
    for (auto number_of_cube = begin; number_of_cube < end; ++number_of_cube) {
      std::fill(of_cube.begin(), of_cube.end(), 0.0);
      const coordinates corner = coordinates_in(number_of_cube, cubes);
      cube sites;
      for (int i = 0; i < sites_of_cube; ++i) {
        const coordinates x{0, 2 * corner[1] + (i >> 2), 2 * corner[2] + (i >> 1 & 1), 2 * corner[3] + (i & 1)};
        const std::int64_t at = index_in(x, local);
        sites[i] = t * slice + at;
        for (int p = 0; p < phases.count; ++p) {
          const number phase = phases.values[p * slice + at];
          double* turn = turns.data() + 2 * (i * phases.count + p);
          turn[0] = phase.real(), turn[1] = phase.imag();
        }
      }
      values(sites, on_sites.data(), workspace.data());
      add_product({phases.count, sites_of_cube, chunks, turns.data(), on_sites.data(), of_cube.data()});
      for (int n = 0; n < count; ++n) {
        const double* from =
            of_cube.data() + n / numbers * size + n % numbers / chunk * 2 * chunk + n % numbers % chunk;
        parts[2 * n].add(from[0]);
        parts[2 * n + 1].add(from[chunk]);
      }
    }
  });
  std::vector<number> sorted;
  const auto per_momentum = std::size_t(numbers);
  for (int p = 0; p < phases.count; ++p)
    for (int t = 0; t < lat.extents[0]; ++t) {
      const auto from = sums.begin() + std::ptrdiff_t((std::size_t(t) * phases.count + p) * per_momentum);
      sorted.insert(sorted.end(), from, from + std::ptrdiff_t(per_momentum));
    }
  return sorted;
}

/// Returns values(sites, out, workspace) of a cube from value(site, out, workspace) of `chunks` chunks on a site.
template <class Value>
auto on_each_site(int chunks, Value&& value) {
  return [chunks, value](const cube& sites, double* out, double* workspace) {
    for (int i = 0; i < sites_of_cube; ++i) value(sites[i], out + i * 2 * chunk * chunks, workspace);
  };
}

/// Sets real and imaginary parts of sixteen numbers.
void set(double* to, int i, number z) {
  to[i] = z.real();
  to[chunk + i] = z.imag();
}

/// Line [spin pair][colour pair] of a site with four source spins and three colours.
struct spin_colour {
  explicit spin_colour(const number* site) : values(site) {}
  number operator()(int spin_pair, int i, int j) const {
    return values[(spin_pair / spins * colours + i) * spins * colours + spin_pair % spins * colours + j];
  }
  const number* values;
};

constexpr int line_numbers = spins * spins * colours * colours, size_of_two = 9 * pairs * 2 * chunk;
constexpr std::size_t baryon_workspace = 2 * std::size_t(size_of_two);

/// Sets the chunks [a b c d][e f] of three lines of a site, summed over their colours; `two` is workspace.
void join_three(const number* S1, const number* S2, const number* S3, double* two, double* out) {
  const spin_colour a(S1), b(S2), c(S3);
  // Two quarks [k k'][spins a b][spins c d], then with the third one.
  double left[2 * 4 * pairs], right[4 * 2 * chunk], third[9 * 2 * chunk];
  std::fill_n(two, size_of_two, 0.0);
  for (int k = 0; k < colours; ++k)
    for (int k1 = 0; k1 < colours; ++k1) {
      for (int term = 0; term < 4; ++term) {  // both orders of the other colours at sink and source
        const int i = (k + 1 + (term & 1)) % 3, j = (k + 2 - (term & 1)) % 3;
        const int i1 = (k1 + 1 + (term >> 1)) % 3, j1 = (k1 + 2 - (term >> 1)) % 3;
        const double sign = term == 0 || term == 3 ? 1.0 : -1.0;
        for (int pair = 0; pair < pairs; ++pair) {
          const number z = sign * a(pair, i, i1);
          left[2 * (term * pairs + pair)] = z.real(), left[2 * (term * pairs + pair) + 1] = z.imag();
          set(right + 2 * chunk * term, pair, b(pair, j, j1));
        }
      }
      const int kk = colours * k + k1;
      add_product({pairs, 4, 1, left, right, two + kk * pairs * 2 * chunk});
      for (int pair = 0; pair < pairs; ++pair) set(third + 2 * chunk * kk, pair, c(pair, k, k1));
    }
  double* const rows = two + size_of_two;  // [k k'][a b c d]
  for (int kk = 0; kk < 9; ++kk)
    for (int abcd = 0; abcd < pairs * pairs; ++abcd) {
      const double* from = two + (kk * pairs + abcd / chunk) * 2 * chunk + abcd % chunk;
      rows[2 * (kk * pairs * pairs + abcd)] = from[0], rows[2 * (kk * pairs * pairs + abcd) + 1] = from[chunk];
    }
  std::fill_n(out, 2 * pairs * pairs * chunk, 0.0);
  add_product({pairs * pairs, 9, 1, rows, third, out});
}

/// Lists of `detail::baryon_args` for rows of 4096 coefficients [first][second][third], without those that are zero.
struct baryon_lists {
  baryon_lists(int count, const number* coefficients) : of_row(std::size_t(count)) {
    std::array<int, detail::most_terms> at{};  // number of a term, from one on
    for (int row = 0; row < count; ++row)
      for (int two = 0; two < pairs * pairs; ++two) {
        detail::baryon_group group{0, 0};
        for (int third = 0; third < pairs; ++third) {
          const number z = coefficients[(row * pairs * pairs + two) * pairs + third];
          if (z.real() != 0) weights.push_back({third, z.real()}), ++group.weights;
          if (z.imag() != 0) weights.push_back({third + pairs, z.imag()}), ++group.weights;
        }
        if (!group.weights) continue;
        if (!at[two]) terms.push_back({two / pairs, two % pairs}), at[two] = int(terms.size());
        group.term = at[two] - 1;
        groups.push_back(group), ++of_row[row];
      }
  }
  std::vector<detail::baryon_term> terms;
  std::vector<int> of_row;
  std::vector<detail::baryon_group> groups;
  std::vector<detail::baryon_weight> weights;
};

constexpr std::size_t lanes_of_line = std::size_t(line_numbers) * 2 * sites_of_cube;

/// Sets [colour pair][spin pair][re, im][site] of a line on the sites of a cube.
void spread(const quark_line& S, const cube& sites, double* out) {
  const int columns = S.spins * S.colours, of_site = spins * colours * columns;
  for (int colour_pair = 0; colour_pair < colours * S.colours; ++colour_pair)
    for (int pair = 0; pair < spins * S.spins; ++pair, out += 2 * sites_of_cube) {
      const int row = pair / S.spins * colours + colour_pair / S.colours;
      const number* from = S.values + row * columns + pair % S.spins * S.colours + colour_pair % S.colours;
      for (int i = 0; i < sites_of_cube; ++i) {
        const number z = from[sites[i] * of_site];
        out[i] = z.real(), out[sites_of_cube + i] = z.imag();
      }
    }
}

/// Sets the chunks of each site of a cube from rows [row][re, im][site].
void set_chunks(const double* rows, int count, double* out) {
  const int chunks = (count + chunk - 1) / chunk;
  std::fill_n(out, 2 * chunk * chunks * sites_of_cube, 0.0);
  for (int i = 0; i < sites_of_cube; ++i)
    for (int row = 0; row < count; ++row) {
      const double* from = rows + row * 2 * sites_of_cube + i;
      set(out + (i * chunks + row / chunk) * 2 * chunk, row % chunk, {from[0], from[sites_of_cube]});
    }
}

/// Sets [colour pair][2 spin pairs][re, im][site]: the spin pairs of `spread`, then i times them.
void turn(const double* line, double* out) {
  constexpr int number_size = 2 * sites_of_cube, size = pairs * number_size;
  for (int colour_pair = 0; colour_pair < colours * colours; ++colour_pair, line += size, out += 2 * size) {
    std::copy_n(line, size, out);
    for (int n = 0; n < size; n += number_size)
      for (int i = 0; i < sites_of_cube; ++i) {
        out[size + n + i] = -line[n + sites_of_cube + i];
        out[size + n + sites_of_cube + i] = line[n + i];
      }
  }
}

/// Lists of `detail::meson_args` for rows of pairs^2 coefficients [first][second], without those that are zero.
struct meson_lists {
  meson_lists(int count, int pairs, const number* coefficients) {
    for (int term = 0; term < pairs * pairs; ++term) {
      detail::meson_term found{term / pairs, term % pairs, 0};
      for (int row = 0; row < count; ++row)
        if (const number z = coefficients[std::size_t(row) * pairs * pairs + term]; z != 0.0)
          weights.push_back({row, z.real(), z.imag()}), ++found.weights;
      if (found.weights) terms.push_back(found);
    }
  }
  std::vector<detail::meson_term> terms;
  std::vector<detail::meson_weight> weights;
};

void check_sources(const quark_line& S, const quark_line& other) {
  for (const auto& line : {S, other})
    check((line.spins == 1 || line.spins == spins) && line.colours >= 1 && line.colours <= colours,
          "a propagator has one or four spins, and up to three colours at its source");
  check(S.spins == other.spins && S.colours == other.colours, "two propagators have different sources");
}

/// Sets the chunks [a b][c d] of two lines of a site, summed over their colours.
void join_two(const quark_line& S, const quark_line& other, std::int64_t site, double* out) {
  const int rows = spins * S.spins, inner = colours * S.colours, of_site = rows * inner;
  double left[2 * colours * colours * pairs], right[2 * colours * colours * chunk] = {};
  for (int k = 0; k < inner; ++k)
    for (int pair = 0; pair < rows; ++pair) {
      const int spin = pair / S.spins, source = pair % S.spins, colour = k / S.colours;
      const std::int64_t at =
          site * of_site + ((spin * colours + colour) * S.spins + source) * S.colours + k % S.colours;
      left[2 * (k * rows + pair)] = S.values[at].real(), left[2 * (k * rows + pair) + 1] = S.values[at].imag();
      set(right + 2 * chunk * k, pair, std::conj(other.values[at]));
    }
  std::fill_n(out, 2 * chunk * rows, 0.0);
  add_product({rows, inner, 1, left, right, out});
}

/// Returns the first `count` of every `padded` numbers.
std::vector<number> without_padding(const std::vector<number>& sums, int padded, int count) {
  std::vector<number> out;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (int(i % std::size_t(padded)) < count) out.push_back(sums[i]);
  return out;
}

}  // namespace

std::vector<number> slice_sums(context& ctx, const lattice& lat, const number* f) {
  const std::int64_t slice = product(lat.local()) / lat.local()[0];
  return sum_slices(ctx, lat, 1, slice, [&](int t, auto begin, auto end, auto& sums) {
    for (auto s = begin; s < end; ++s) {
      sums[0].add(f[t * slice + s].real());
      sums[1].add(f[t * slice + s].imag());
    }
  });
}

std::vector<number> spin_tensor(context& ctx, const lattice& lat, const momentum_phases& phases, const quark_line& S,
                                const quark_line& other) {
  check_sources(S, other);
  const int rows = spins * S.spins;
  const auto values =
      on_each_site(rows, [&](std::int64_t site, double* out, double*) { join_two(S, other, site, out); });
  return without_padding(project(ctx, lat, phases, rows * chunk, 0, values), chunk, rows);
}

std::vector<number> meson_sums(context& ctx, const lattice& lat, const momentum_phases& phases, const quark_line& S,
                               const quark_line& other, int count, const number* coefficients) {
  check_sources(S, other);
  const meson_lists lists(count, spins * S.spins, coefficients);
  const std::size_t more = 2 * lanes_of_line + std::size_t(count) * 2 * sites_of_cube;
  return project(ctx, lat, phases, count, more, [&](const cube& sites, double* out, double* work) {
    double *const first = work, *const of_rows = work + 2 * lanes_of_line;
    double* const second = other.values == S.values ? first : work + lanes_of_line;
    spread(S, sites, first);
    if (second != first) spread(other, sites, second);
    detail::sum_mesons({{first, second},
                        colours * S.colours,
                        spins * S.spins,
                        int(lists.terms.size()),
                        count,
                        lists.terms.data(),
                        lists.weights.data(),
                        of_rows});
    set_chunks(of_rows, count, out);
  });
}

std::vector<number> baryon_tensor(context& ctx, const lattice& lat, const momentum_phases& phases, const number* S1,
                                  const number* S2, const number* S3) {
  const auto values = on_each_site(pairs * pairs, [&](std::int64_t site, double* out, double* two) {
    const std::int64_t at = site * line_numbers;
    join_three(S1 + at, S2 + at, S3 + at, two, out);
  });
  return project(ctx, lat, phases, pairs * pairs * chunk, baryon_workspace, values);
}

std::vector<number> baryon_sums(context& ctx, const lattice& lat, const momentum_phases& phases, const number* S1,
                                const number* S2, const number* S3, int count, const number* coefficients) {
  const baryon_lists lists(count, coefficients);
  const std::size_t more = 5 * lanes_of_line + std::size_t(count) * 2 * sites_of_cube;
  return project(ctx, lat, phases, count, more, [&](const cube& sites, double* out, double* work) {
    double *const first = work, *const turned = work + 3 * lanes_of_line, *const of_rows = work + 5 * lanes_of_line;
    double* const second = S2 == S1 ? first : work + lanes_of_line;
    double* const third = S3 == S1 ? first : S3 == S2 ? second : work + 2 * lanes_of_line;
    spread({spins, colours, S1}, sites, first);
    if (second != first) spread({spins, colours, S2}, sites, second);
    if (third != first && third != second) spread({spins, colours, S3}, sites, third);
    turn(third, turned);
    detail::sum_baryons({{first, second, turned},
                         int(lists.terms.size()),
                         count,
                         lists.terms.data(),
                         lists.of_row.data(),
                         lists.groups.data(),
                         lists.weights.data(),
                         of_rows});
    set_chunks(of_rows, count, out);
  });
}

}  // namespace plaq::lqcd
