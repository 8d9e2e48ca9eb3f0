// Products of fields of 3 x 3 matrices, one matrix on each site: what observables and forces of gauge fields are
// made of.
#pragma once
#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/exact_sum.hpp"
#include "plaq/lqcd/field.hpp"

namespace plaq::lqcd {

/// Row i, column j is component 3 i + j.
using matrices = field<double, 18>;

/// A matrix on each site, in memory that belongs to a field: of one direction of its links, or a field of
/// matrices.
template <class T>
struct matrix_view {
  T* first;
  int reals;  ///< numbers of a site from one block to the next
  const layout* where;

  T* block(std::int64_t b) const { return first + b * reals * where->lanes(); }
  operator matrix_view<const T>() const { return {first, reals, where}; }
};
using const_matrix_view = matrix_view<const double>;

inline matrix_view<double> view(matrices& m) { return {m.data(), 18, &m.where()}; }
inline const_matrix_view view(const matrices& m) { return {m.data(), 18, &m.where()}; }
inline matrix_view<double> view(links<double>& u, int mu) { return {u.data() + 18 * mu * u.lanes(), 72, &u.where()}; }
inline const_matrix_view view(const links<double>& u, int mu) {
  return {u.data() + 18 * mu * u.lanes(), 72, &u.where()};
}

/// A factor of a product: a matrix, or its adjoint.
struct factor {
  const_matrix_view of;
  bool adjoint = false;
};
inline factor adjoint(const_matrix_view m) { return {m, true}; }

/// out = a b, or out += a b, on the sites of a parity; out is none of the factors. All are of one layout.
void product(engine& by, int parity, matrix_view<double> out, factor a, factor b, bool add = false);
/// out += a
void add(engine& by, int parity, matrix_view<double> out, const_matrix_view a);
/// Sum over all sites of Re tr a b^+, exact until it is rounded. Collective.
double real_trace(engine& by, const_matrix_view a, const_matrix_view b);

/// out(x) = in(x + step mu), step = 1 or -1, for x of a parity; in the layout of both. Collective.
void shift(engine& by, int parity, matrix_view<double> out, const_matrix_view in, int mu, int step);
/// The same for spinors on all sites.
void shift(engine& by, int parity, spinors<double>& out, const spinors<double>& in, int mu, int step);

namespace detail {
void product_blocks(int lanes, std::int64_t first, std::int64_t end, matrix_view<double> out, factor a, factor b,
                    bool add);
void trace_blocks(int lanes, std::int64_t first, std::int64_t end, const_matrix_view a, const_matrix_view b,
                  exact_sum& sum);
}  // namespace detail

}  // namespace plaq::lqcd
