// Solvers of Dirac operators.
#include <vector>

#include "lqcd.hpp"
#include "plaq/lqcd/solver/solver.hpp"

namespace plaq::bindings {

namespace {

/// Binds the solver of an operator.
template <class Operator>
auto bind_solver_of(nb::module_& m, const char* name) {
  using vector = typename Operator::vector;
  return nb::class_<solver<Operator>>(m, name, "Solver of M psi = eta for an operator.")
      .def(nb::init<Operator&>(), "operator"_a, nb::keep_alive<1, 2>())
      .def(
          "solve",
          [](solver<Operator>& s, vector& psi, const vector& eta, solver_method method, precision steps,
             double residual, int max_steps) {
            return s.solve(psi, eta, {.method = method, .steps = steps, .residual = residual, .max_steps = max_steps});
          },
          "psi"_a, "eta"_a, "method"_a, "steps"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "solve_shifted",
          [](solver<Operator>& s, std::vector<vector*> x, const vector& phi, const std::vector<double>& shifts,
             double residual, int max_steps) {
            std::vector<vector> fields(shifts.size(), phi);
            const auto result = s.solve_shifted(fields, phi, shifts, {.residual = residual, .max_steps = max_steps});
            for (std::size_t i = 0; i < fields.size(); ++i) *x[i] = fields[i];  // views of its memory stay valid
            return result;
          },
          "x"_a, "phi"_a, "shifts"_a, "residual"_a, "max_steps"_a, free_gil());
}

}  // namespace

void bind_lqcd_solvers(nb::module_& m) {
  nb::class_<solver_result>(m, "SolverResult")
      .def_prop_ro("converged",
                   [](const solver_result& r) { return r.reason == solver_result::stop_reason::converged; })
      .def_ro("steps", &solver_result::steps)
      .def_ro("updates", &solver_result::updates)
      .def_ro("residual", &solver_result::residual)
      .def("__str__", &solver_result::to_string);
  nb::enum_<precision>(m, "Precision", "Precision of a solver's steps.")
      .value("double", precision::in_double)
      .value("single", precision::in_single)
      .value("half", precision::in_half);
  nb::enum_<solver_method>(m, "Method", "Method of a solver.")
      .value("cg", solver_method::cg)
      .value("bicgstab", solver_method::bicgstab)
      .value("gcr", solver_method::gcr)
      .value("multigrid", solver_method::multigrid);
  bind_solver_of<doublet<double>>(m, "DoubletSolver");
  bind_solver_of<wilson<double>>(m, "WilsonSolver")
      .def(
          "solve_normal",
          [](solver<wilson<double>>& s, spinor& x, const spinor& phi, double twist, precision steps, double residual,
             int max_steps) {
            return s.solve_normal(x, phi, twist, {.steps = steps, .residual = residual, .max_steps = max_steps});
          },
          "x"_a, "phi"_a, "twist"_a, "steps"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "solve_normal_by_multigrid",
          [](solver<wilson<double>>& s, spinor& x, const spinor& phi, double residual, int max_steps) {
            return s.solve_normal_by_multigrid(x, phi, {.residual = residual, .max_steps = max_steps});
          },
          "x"_a, "phi"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "set_up",
          [](solver<wilson<double>>& s, const std::vector<coordinates>& aggregates) {
            s.set_up({.boxes = aggregates});
          },
          "aggregates"_a, free_gil())
      .def(
          "set_up_from", [](solver<wilson<double>>& s, const solver<wilson<double>>& other) { s.set_up_from(other); },
          "other"_a, free_gil())
      .def(
          "set_up_with",
          [](solver<wilson<double>>& s, const std::vector<coordinates>& aggregates,
             const std::vector<const spinor*>& tests) { s.set_up_with({.boxes = aggregates}, tests); },
          "aggregates"_a, "tests"_a, free_gil())
      .def("improve", &solver<wilson<double>>::improve, free_gil())
      .def("test_vectors", &solver<wilson<double>>::test_vectors, free_gil());
}

}  // namespace plaq::bindings
