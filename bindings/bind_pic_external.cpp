#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pic_arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/external_plan.hpp"
#include "plaq/pic/mesh/field_ionisation.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::pic;
using namespace plaq::bindings;

/// Binds fields from outside, and ionisation by fields.
void bind_pic_external(nb::module_& m) {
  nb::class_<formula>(m, "Formula", "Formula of x, y, z, t; see formula.hpp.")
      .def(
          "__init__",
          [](formula* self,
             const std::vector<std::tuple<std::string, int, double, std::vector<double>, std::vector<double>>>&
                 program) {
            std::vector<formula::step> steps;
            for (const auto& [symbol, takes, number, x, y] : program) steps.push_back({symbol, takes, number, x, y});
            new (self) formula(steps);
          },
          "program"_a)
      .def(
          "__call__",
          [](const formula& f, const array_in& x, double y, double z, double t) {
            std::vector<double> out(x.size());
            f.evaluate(view(x), y, z, t, out);
            return to_array(std::move(out), {x.size()});
          },
          "x"_a, "y"_a, "z"_a, "t"_a);

  nb::class_<field_ionisation>(m, "FieldIonisation", "Ionisation by the electric field; see field_ionisation.hpp.")
      .def(
          "__init__",
          [](field_ionisation* self, const std::string& name, int ionised, int ions, int electrons, double energy,
             int charge_state, int l, double atomic_field, double atomic_time) {
            new (self)
                field_ionisation{name, ionised, ions, electrons, energy, charge_state, l, atomic_field, atomic_time};
          },
          "name"_a, "ionised"_a, "ions"_a, "electrons"_a, "energy"_a, "charge_state"_a, "l"_a, "atomic_field"_a,
          "atomic_time"_a)
      .def("rate", &field_ionisation::rate, "field"_a);

  nb::class_<external_plan>(m, "ExternalFields", "Fields from outside; see external_plan.hpp.")
      .def(
          "__init__",
          [](external_plan* self, double length, double time) {
            external_plan p;
            p.length = length, p.time = time;
            new (self) external_plan(std::move(p));
          },
          "length"_a, "time"_a)
      .def(
          "set_formula",
          [](external_plan& p, std::size_t component, const formula& f, double unit) {
            p.formulas.at(component) = f, p.unit.at(component) = unit;
          },
          "component"_a, "formula"_a, "unit"_a)
      .def(
          "set_map",
          [](external_plan& p, std::size_t component, const std::vector<double>& first,
             const std::vector<double>& spacing, const std::vector<int>& points, const array_in& values) {
            field_map map{three(first, 0.0, "first"), three(spacing, 1.0, "spacing"), three(points, 1, "points"),
                          to_vector(values)};
            if (std::size_t(map.points[0]) * std::size_t(map.points[1]) * std::size_t(map.points[2]) !=
                map.values.size())
              throw plaq::input_error("a map of a field has a value for each point");
            p.maps.at(component) = std::move(map);
          },
          "component"_a, "first"_a, "spacing"_a, "points"_a, "values"_a, "values: x fastest")
      .def("set_factor", [](external_plan& p, const formula& f) { p.factor = f; }, "factor"_a);
}
