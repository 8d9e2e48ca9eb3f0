// Smearing, transport and contractions of quarks.
#include <nanobind/ndarray.h>

#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "lqcd.hpp"
#include "plaq/lqcd/dirac/quark_smearing.hpp"
#include "plaq/lqcd/lattice/contraction.hpp"

namespace plaq::bindings {

namespace {

/// Complex numbers of a rank's box, [t, x, y, z, ...].
using box_numbers = nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>;

/// Propagator [t, x, y, z, spin, colour, source spin, source colour].
quark_line line_of(const box_numbers& S) { return {int(S.shape(6)), int(S.shape(7)), S.data()}; }

/// Returns an array that owns its numbers.
nb::ndarray<nb::numpy, std::complex<double>> owned(std::vector<std::complex<double>>&& values,
                                                   const std::vector<std::size_t>& shape) {
  auto* numbers = new std::vector<std::complex<double>>(std::move(values));
  nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::complex<double>>*>(p); });
  return {numbers->data(), shape.size(), shape.data(), owner};
}

/// Returns sums(phases), computed without Python's lock, as [momentum, t, shape ...].
template <class Sums>
auto by_momentum(const site_layout& layout, const box_numbers& phases, std::vector<std::size_t> shape, Sums&& sums) {
  const std::size_t momenta = phases.shape(0);
  std::vector<std::complex<double>> values;
  {
    nb::gil_scoped_release free;
    values = sums(momentum_phases{int(momenta), phases.data()});
  }
  shape.insert(shape.begin(), {momenta, std::size_t(layout.lattice().extents[0])});
  return owned(std::move(values), shape);
}

}  // namespace

void bind_lqcd_quarks(nb::module_& m) {
  m.def(
      "gaussian_smear",
      [](owned_context& c, spinor& psi, const gauge_links& u, double kappa, int times, const angles& theta) {
        c.workers->run("smear", [&] { gaussian_smear(c.ctx, psi, u, kappa, times, theta); });
      },
      "context"_a, "psi"_a, "links"_a, "kappa"_a, "times"_a, "theta"_a, free_gil());

  m.def(
      "slice_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& f) {
        std::vector<std::complex<double>> values;
        {
          nb::gil_scoped_release free;
          values = slice_sums(c.ctx, layout.lattice(), f.data());
        }
        return owned(std::move(values), {std::size_t(layout.lattice().extents[0])});
      },
      "context"_a, "layout"_a, "f"_a, "Return [t] of f [t, x, y, z].");
  m.def(
      "spin_tensor",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S,
         const box_numbers& other) {
        const std::size_t spins = S.shape(6);
        return by_momentum(layout, phases, {4, spins, 4, spins}, [&](const momentum_phases& of) {
          return spin_tensor(c.ctx, layout.lattice(), of, line_of(S), line_of(other));
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S"_a, "other"_a,
      "Return [momentum, t, a, b, c, d] of [t, x, y, z, spin, colour, spin, colour] and phases [momentum, x, y, z].");
  m.def(
      "meson_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S,
         const box_numbers& other, const box_numbers& rows) {
        return by_momentum(layout, phases, {rows.shape(0)}, [&](const momentum_phases& of) {
          return meson_sums(c.ctx, layout.lattice(), of, line_of(S), line_of(other), int(rows.shape(0)), rows.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S"_a, "other"_a, "coefficients"_a,
      "Return [momentum, t, row] for rows of coefficients of the numbers of spin_tensor.");
  m.def(
      "baryon_tensor",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S1,
         const box_numbers& S2, const box_numbers& S3) {
        return by_momentum(layout, phases, {4, 4, 4, 4, 4, 4}, [&](const momentum_phases& of) {
          return baryon_tensor(c.ctx, layout.lattice(), of, S1.data(), S2.data(), S3.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S1"_a, "S2"_a, "S3"_a,
      "Return [momentum, t, a, b, c, d, e, f] of three propagators and phases [momentum, x, y, z].");
  m.def(
      "baryon_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S1,
         const box_numbers& S2, const box_numbers& S3, const box_numbers& rows) {
        return by_momentum(layout, phases, {rows.shape(0)}, [&](const momentum_phases& of) {
          return baryon_sums(c.ctx, layout.lattice(), of, S1.data(), S2.data(), S3.data(), int(rows.shape(0)),
                             rows.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S1"_a, "S2"_a, "S3"_a, "coefficients"_a,
      "Return [momentum, t, row] for rows of 4096 coefficients of the numbers of baryon_tensor.");
  m.def(
      "transport",
      [](owned_context& c, const spinor& psi, const gauge_links& u, int mu, int step, const angles& theta) {
        std::optional<spinor> out;
        c.workers->run("transport", [&] { out.emplace(transport(c.ctx, psi, u, mu, step, theta)); });
        return std::move(*out);
      },
      "context"_a, "psi"_a, "links"_a, "mu"_a, "step"_a, "theta"_a, free_gil());
}

}  // namespace plaq::bindings
