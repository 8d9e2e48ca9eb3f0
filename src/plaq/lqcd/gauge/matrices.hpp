// Products of fields of 3 x 3 matrices, one matrix on each site, for observables and forces of gauge fields.
#pragma once
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/exact_sum.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Matrix field: row i, column j is component 3 i + j.
using matrices = field<double, 18>;

/// View of a matrix on each site in the memory of a field: links in one direction, or a field of matrices.
template <class T>
struct matrix_view {
  T* first;
  int reals;  ///< numbers of a site in the field
  const site_layout* layout;

  T* group(std::int64_t b) const { return first + b * reals * layout->lanes(); }
  operator matrix_view<const T>() const { return {first, reals, layout}; }
};
using const_matrix_view = matrix_view<const double>;

inline matrix_view<double> view(matrices& m) { return {m.data(), 18, &m.layout()}; }
inline const_matrix_view view(const matrices& m) { return {m.data(), 18, &m.layout()}; }
inline matrix_view<double> view(links<double>& u, int mu) { return {u.data() + 18 * mu * u.lanes(), 72, &u.layout()}; }
inline const_matrix_view view(const links<double>& u, int mu) {
  return {u.data() + 18 * mu * u.lanes(), 72, &u.layout()};
}

/// Factor of a product: a matrix, or its adjoint.
struct factor {
  const_matrix_view matrix;
  bool adjoint = false;
};
inline factor adjoint(const_matrix_view m) { return {m, true}; }

/// Computes out = a b, or out += a b, on the sites of a parity; out is none of the factors. All have one layout.
void multiply(context& ctx, int parity, matrix_view<double> out, factor a, factor b, bool add = false);
/// Adds a to out on the sites of a parity.
void add(context& ctx, int parity, matrix_view<double> out, const_matrix_view a);
/// Sum over all sites of Re tr a b^+, exact and rounded once. Collective.
double real_trace(context& ctx, const_matrix_view a, const_matrix_view b);

/// Computes out(x) = in(x + step mu), step = 1 or -1, for x of a parity. Both have one layout. Collective.
void shift(context& ctx, int parity, matrix_view<double> out, const_matrix_view in, int mu, int step);
/// Shifts spinors on all sites.
void shift(context& ctx, int parity, spinors<double>& out, const spinors<double>& in, int mu, int step);

namespace detail {
void multiply_groups(int lanes, std::int64_t first, std::int64_t end, matrix_view<double> out, factor a, factor b,
                     bool add);
void add_trace(int lanes, std::int64_t first, std::int64_t end, const_matrix_view a, const_matrix_view b,
               exact_sum& sum);
}  // namespace detail

}  // namespace plaq::lqcd
