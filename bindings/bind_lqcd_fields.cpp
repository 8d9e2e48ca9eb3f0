// Layouts, contexts and fields.
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

#include "lqcd.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

namespace plaq::bindings {

namespace {

/// Returns a view of a field's memory, [group, ..., re or im, lane].
template <class Field>
auto array_of(nb::handle_t<Field> self, std::vector<std::size_t> of_site) {
  Field& f = nb::cast<Field&>(self);
  std::vector<std::size_t> shape{std::size_t(f.groups())};
  shape.insert(shape.end(), of_site.begin(), of_site.end());
  shape.insert(shape.end(), {2, std::size_t(f.lanes())});
  return nb::ndarray<nb::numpy, double>(f.data(), shape.size(), shape.data(), self);
}

nb::ndarray<nb::numpy, std::int32_t> sites_of(const site_layout& layout) {
  auto* numbers = new std::vector<std::int32_t>;
  nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  for_each_site(layout, [&](const coordinates& x, site_layout::location) {
    numbers->insert(numbers->end(), x.begin(), x.end());
  });
  return nb::ndarray<nb::numpy, std::int32_t>(numbers->data(),
                                              {std::size_t(layout.groups()), std::size_t(layout.lanes()), 4}, owner);
}

}  // namespace

void bind_lqcd_layout(nb::module_& m) {
  m.def("choose_grid", &choose_grid, "ranks"_a, "extents"_a, "Return the grid of ranks with the smallest surface.");

  m.def(
      "choose_layout",
      [](const coordinates& extents, const coordinates& grid) {
        const lattice lat(extents, grid);
        return std::pair(lat.local(), choose_sub_boxes(lat, max_lanes<double>()).lanes);
      },
      "extents"_a, "grid"_a, "Return (extents of a rank's box, lanes) of a layout.");

  nb::class_<site_layout>(m, "Layout", "Layout of a rank's sites in memory.")
      .def(
          "__init__",
          [](site_layout* self, const coordinates& extents, const coordinates& grid, int rank, int lanes) {
            new (self) site_layout(lattice(extents, grid, rank),
                                   lanes ? std::min(lanes, max_lanes<double>()) : max_lanes<double>());
          },
          "extents"_a, "grid"_a, "rank"_a, "lanes"_a = 0, "lanes: 0 takes as many as a register has.")
      .def_prop_ro("extents", [](const site_layout& w) { return w.lattice().extents; })
      .def_prop_ro("grid", [](const site_layout& w) { return w.lattice().grid; })
      .def_prop_ro("local", [](const site_layout& w) { return w.lattice().local(); })
      .def_prop_ro("origin", [](const site_layout& w) { return w.lattice().origin(); })
      .def_prop_ro("lanes", &site_layout::lanes)
      .def("sites", &sites_of, "Return [group, lane, 4]: local coordinates.");

  nb::class_<owned_context>(m, "Context", "Workers of this rank and its connections to the other ranks.")
      .def(nb::init<plaq::comm::messenger&, plaq::comm::collectives&, const std::string&, const plaq::task::options&>(),
           "messages"_a, "collectives"_a, "backend"_a, "pool"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

void bind_lqcd_fields(nb::module_& m) {
  nb::class_<gauge_links>(m, "Links")
      .def(nb::init<std::shared_ptr<const site_layout>>(), "layout"_a)
      .def("copy", [](const gauge_links& u) { return gauge_links(u); })
      .def_prop_ro("array", [](nb::handle_t<gauge_links> self) { return array_of(self, {4, 3, 3}); })
      .def(
          "hot", [](gauge_links& u, std::uint64_t seed) { hot_start(u, seed); }, "seed"_a, free_gil())
      .def("cold", [](gauge_links& u) { cold_start(u); }, free_gil());
  nb::class_<spinor>(m, "Spinors")
      .def(
          "__init__",
          [](spinor* self, std::shared_ptr<const site_layout> layout, bool odd) {
            new (self) spinor(std::move(layout), odd ? sites::odd : sites::all);
          },
          "layout"_a, "odd"_a = false)
      .def_prop_ro("odd", [](const spinor& psi) { return psi.subset() == sites::odd; })
      .def("copy", [](const spinor& psi) { return spinor(psi); })
      .def_prop_ro("array", [](nb::handle_t<spinor> self) { return array_of(self, {4, 3}); })
      .def(
          "gaussian", [](spinor& psi, std::uint64_t seed, std::uint32_t number) { gaussian(psi, seed, number); },
          "seed"_a, "number"_a = 0, free_gil())
      .def(
          "pseudofermion",
          [](spinor& psi, std::uint64_t seed, std::uint32_t trajectory, std::uint32_t term) {
            gaussian(psi, {seed, trajectory, term, random_purpose::pseudofermion});
          },
          "seed"_a, "trajectory"_a, "term"_a, free_gil());

  m.def(
      "add",
      [](const owned_context& c, spinor& y, std::complex<double> factor, const spinor& x) {
        auto ctx = c.ctx;
        combine<double>(ctx, y, {{1, y}, {factor, x}});
      },
      "context"_a, "y"_a, "factor"_a, "x"_a, free_gil());
  m.def(
      "dot",
      [](const owned_context& c, const spinor& x, const spinor& y) {
        auto ctx = c.ctx;
        return dot(ctx, x, y);
      },
      "context"_a, "x"_a, "y"_a, free_gil());
  m.def(
      "norm2",
      [](const owned_context& c, const spinor& x) {
        auto ctx = c.ctx;
        return norm2(ctx, x);
      },
      "context"_a, "x"_a, free_gil());
}

}  // namespace plaq::bindings
