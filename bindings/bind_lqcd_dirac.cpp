// Dirac operators.
#include <memory>

#include "lqcd.hpp"
#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"

namespace plaq::bindings {

void bind_lqcd_wilson(nb::module_& m) {
  using matrix = wilson<double>;
  nb::class_<matrix>(m, "Wilson", "Operator of Wilson or twisted-mass fermions on a copy of a gauge field.")
      .def(
          "__init__",
          [](matrix* self, owned_context& c, const gauge_links& u, double kappa, double mu, const angles& theta,
             double csw, bool exponential, bool open, double cF, int spare) {
            new (self) matrix(c.ctx, u, {kappa, mu, theta, csw, exponential, open, cF, spare}, u.shared_layout());
          },
          "context"_a, "links"_a, "kappa"_a, "mu"_a, "theta"_a, "csw"_a, "exponential"_a = false, "open"_a = false,
          "cF"_a = 1.0, "spare"_a = 0, nb::keep_alive<1, 2>(), free_gil())
      .def(
          "apply",
          [](matrix& M, spinor& out, const spinor& in, bool dagger) {
            M.ctx().workers.run("apply", [&] { M.apply(out, in, dagger); });
          },
          "out"_a, "in"_a, "dagger"_a, free_gil())
      .def(
          "apply_odd",
          [](matrix& M, spinor& out, const spinor& in, bool dagger, double twist) {
            M.ctx().workers.run("apply", [&] { M.apply_odd(out, in, dagger, twist); });
          },
          "out"_a, "in"_a, "dagger"_a, "twist"_a = 0.0, free_gil())
      .def(
          "derivative",
          [](matrix& M, gauge_links& out, const gauge_links& u, const spinor& X, const spinor& Y) {
            M.ctx().workers.run("derivative", [&] { M.derivative(out, u, X, Y); });
          },
          "out"_a, "links"_a, "X"_a, "Y"_a, free_gil())
      .def(
          "prepare",
          [](matrix& M, spinor& odd, const spinor& eta) {
            M.ctx().workers.run("prepare", [&] { M.prepare(odd, eta); });
          },
          "odd"_a, "eta"_a, free_gil())
      .def(
          "complete",
          [](matrix& M, spinor& psi, const spinor& eta) {
            M.ctx().workers.run("complete", [&] { M.complete(psi, eta); });
          },
          "psi"_a, "eta"_a, free_gil())
      .def_prop_ro("log_det_even", &matrix::log_det_even)
      .def("log_det_derivative", &matrix::log_det_derivative, "out"_a, "links"_a, free_gil());
}

void bind_lqcd_doublet(nb::module_& m) {
  nb::class_<spinor_pair>(m, "Flavours", "Spinors of two flavours.")
      .def(
          "__init__",
          [](spinor_pair* self, const std::shared_ptr<const site_layout>& layout, bool odd) {
            const auto subset = odd ? sites::odd : sites::all;
            new (self) spinor_pair{spinor(layout, subset), spinor(layout, subset)};
          },
          "layout"_a, "odd"_a = false)
      .def("copy", [](const spinor_pair& psi) { return spinor_pair(psi); })
      .def_prop_ro(
          "up", [](spinor_pair& psi) -> spinor& { return psi.up; }, nb::rv_policy::reference_internal)
      .def_prop_ro("down", [](spinor_pair& psi) -> spinor& { return psi.down; }, nb::rv_policy::reference_internal);
  using matrix = doublet<double>;
  nb::class_<matrix>(m, "Doublet", "Operator of two twisted flavours with different masses on a copy of a gauge field.")
      .def(
          "__init__",
          [](matrix* self, owned_context& c, const gauge_links& u, double kappa, double mu, double epsilon,
             const angles& theta, double csw, bool exponential, bool open, double cF) {
            new (self) matrix(c.ctx, u, {kappa, mu, epsilon, theta, csw, exponential, open, cF}, u.shared_layout());
          },
          "context"_a, "links"_a, "kappa"_a, "mu"_a, "epsilon"_a, "theta"_a, "csw"_a, "exponential"_a = false,
          "open"_a = false, "cF"_a = 1.0, nb::keep_alive<1, 2>(), free_gil())
      .def("apply", &matrix::apply, "out"_a, "in"_a, "dagger"_a, free_gil())
      .def("apply_odd", &matrix::apply_odd, "out"_a, "in"_a, "dagger"_a, free_gil())
      .def(
          "derivative",
          [](matrix& M, gauge_links& out, const gauge_links& u, const spinor_pair& X, const spinor_pair& Y) {
            M.derivative(out, u, X, Y);
          },
          "out"_a, "links"_a, "X"_a, "Y"_a, free_gil())
      .def_prop_ro("log_det_even", &matrix::log_det_even)
      .def("log_det_derivative", &matrix::log_det_derivative, "out"_a, "links"_a, free_gil());
}

}  // namespace plaq::bindings
