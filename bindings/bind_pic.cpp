#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "group.hpp"
#include "pic_arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/plasma.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::pic;
using namespace plaq::bindings;

void bind_pic_plan(nb::module_& m);

namespace {

nb::dict as_dict(const plaq::balance_result& outcome) {
  nb::dict out;
  out["before"] = outcome.before, out["predicted"] = outcome.predicted, out["floor"] = outcome.floor;
  out["moved"] = outcome.moved, out["moved_bytes"] = outcome.moved_bytes;
  return out;
}

/// Binds the functions that reach single patches of a plasma.
void bind_patches(nb::class_<plasma>& bound) {
  bound.def("homes", &plasma::homes, free_gil())
      .def("compute_charge", &plasma::compute_charge, free_gil())
      .def("solve_poisson", &plasma::solve_poisson, free_gil())
      .def(
          "add_moving_field",
          [](plasma& s, std::size_t species_index, int dimension, double beta) {
            s.add_moving_field(species_index, {dimension, beta});
          },
          "species"_a, "dimension"_a, "beta"_a, free_gil())
      .def("shift_window", &plasma::shift_window, free_gil())
      .def("local_patches", &plasma::local_patches)
      .def(
          "origin",
          [](const plasma& s, int patch) { return used_part(s.mesh(patch).first, s.parameters().dimensions); },
          "patch"_a)
      .def(
          "extent",
          [](const plasma& s, int patch) { return used_part(s.mesh(patch).cells, s.parameters().dimensions); },
          "patch"_a)
      .def(
          "make_positions",
          [](const plasma& s, int patch, int species_index, int per_cell, bool even, int like, int from_x) {
            auto x = make_positions(s.parameters(), s.shifted_mesh(patch),
                                    std::uint32_t(like < 0 ? species_index : like), per_cell, even, from_x);
            const auto dimensions = std::size_t(s.parameters().dimensions);
            const std::size_t n = x.size() / dimensions;
            return to_array(std::move(x), {n, dimensions});
          },
          "patch"_a, "species"_a, "per_cell"_a, "even"_a = false, "like"_a = -1, "from_x"_a = 0, "[n, dimensions]")
      .def(
          "draw_uniform",
          [](const plasma& s, int patch, std::size_t species_index, const array_in& x,
             const nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>& which, std::uint64_t round) {
            const auto numbers = numbers_by_cell(s.parameters(), s.shifted_mesh(patch), view(x));
            std::vector<double> out;
            for (std::size_t i = 0; i < which.size(); ++i) {
              const auto words =
                  draw_uniform(s.parameters(), species_index, numbers.at(std::size_t(which.data()[i])), round);
              out.insert(out.end(), words.begin(), words.end());
            }
            return to_array(std::move(out), {which.size(), 4});
          },
          "patch"_a, "species"_a, "x"_a, "which"_a, "round"_a,
          "Numbers in [0, 1) for a round of draws of momenta of some particles: [which, 4].")
      .def(
          "load",
          [](plasma& s, int patch, std::size_t species_index, const array_in& x, const array_in& w,
             const array_in& drift, const array_in& thermal,
             bool juttner) { s.load(patch, species_index, {view(x), view(w), view(drift), view(thermal), juttner}); },
          "patch"_a, "species"_a, "x"_a, "w"_a, "drift"_a, "thermal"_a, "juttner"_a = false)
      .def(
          "set_fields",
          [](plasma& s, int patch, const array_in& e, const array_in& b, int part) {
            const patch_grid m = s.mesh(patch);
            s.set_fields(patch, to_x_fastest(e, m.dimensions, m.cells), to_x_fastest(b, m.dimensions, m.cells), part);
          },
          "patch"_a, "e"_a, "b"_a, "part"_a = 0)
      .def(
          "set_incoming_fields",
          [](plasma& s, int patch, const array_in& e, const array_in& b) {
            const patch_grid m = s.mesh(patch);
            const point plane{1, m.cells[1], m.cells[2]};
            s.set_incoming_fields(patch, to_x_fastest(e, m.dimensions, plane), to_x_fastest(b, m.dimensions, plane));
          },
          "patch"_a, "e"_a, "b"_a)
      .def(
          "array",
          [](plasma& s, int patch, const std::string& name, int part) {
            std::vector<std::size_t> shape;
            for (const int n : used_part(s.mesh(patch).cells, s.parameters().dimensions))
              shape.push_back(std::size_t(n));
            return to_array(s.field(patch, name, part), shape, true);
          },
          "patch"_a, "name"_a, "part"_a = 0)
      .def(
          "particles",
          [](plasma& s, int patch, std::size_t species_index) {
            auto view = s.particles(patch, species_index);
            const std::size_t n = view.w.size();
            nb::dict out;
            out["x"] = to_array(std::move(view.x), {n, std::size_t(s.parameters().dimensions)});
            out["u"] = to_array(std::move(view.u), {n, 3});
            out["w"] = to_array(std::move(view.w), {n});
            if (s.parameters().modes > 1) out["azimuth"] = to_array(std::move(view.azimuth), {n, 2});
            if (s.parameters().species_list[species_index].tracked) out["id"] = to_array(std::move(view.id), {n});
            return out;
          },
          "patch"_a, "species"_a);
}

/// Binds the sums over particles of single patches; moments and coordinates are numbers of their enumerators.
void bind_counts(nb::class_<plasma>& bound) {
  bound
      .def(
          "bound_of_moment",
          [](plasma& s, int patch, std::size_t species_index, int of) {
            return s.bound_of_moment(patch, species_index, moment(of));
          },
          "patch"_a, "species"_a, "of"_a, "(number of particles, largest part)")
      .def(
          "count_at_nodes",
          [](plasma& s, int patch, std::size_t species_index, int of, int unit) {
            std::vector<std::size_t> shape;
            for (const int n : used_part(s.mesh(patch).cells, s.parameters().dimensions))
              shape.push_back(std::size_t(n + 1));
            return to_array(s.count_at_nodes(patch, species_index, moment(of), unit), shape, true);
          },
          "patch"_a, "species"_a, "of"_a, "unit"_a)
      .def(
          "count_in_bins",
          [](plasma& s, int patch, std::size_t species_index, const std::vector<int>& coordinates,
             const std::vector<std::vector<double>>& edges, double offset, int unit) {
            std::vector<histogram_axis> axes;
            std::vector<std::size_t> shape;
            for (std::size_t i = 0; i < coordinates.size(); ++i) {
              axes.push_back({coordinate(coordinates[i]), edges.at(i)});
              shape.push_back(edges.at(i).size() - 1);
            }
            return to_array(s.count_in_bins(patch, species_index, axes, offset, unit), shape);
          },
          "patch"_a, "species"_a, "coordinates"_a, "edges"_a, "offset"_a, "unit"_a);
}

void bind_plasma(nb::module_& m) {
  auto bound = nb::class_<plasma>(m, "Plasma", "Plasma on all ranks; see plasma.hpp.");
  bound
      .def_static(
          "make",
          [](const plan& p, const group& over, const std::string& backend, const plaq::task::options& pool,
             const std::string& precision, const std::vector<double>& estimate, const std::string& folder) {
            if (precision != "double" && precision != "single")
              throw plaq::input_error("precision = \"" + precision + "\" is not double or single");
            return make_plasma(p, over.ranks, {backend, pool, precision == "single", estimate, folder});
          },
          "plan"_a, "comm"_a, "backend"_a, "pool"_a, "precision"_a = "double", "estimate"_a = std::vector<double>(),
          "folder"_a = "", nb::keep_alive<0, 2>(), free_gil())
      .def_prop_ro("step", &plasma::step)
      .def_prop_ro("time", [](const plasma& s) { return double(s.step()) * s.parameters().dt; })
      .def_prop_ro("columns", [](const plasma& s) { return record::names(s.parameters()); })
      .def("start", &plasma::start, free_gil())
      .def(
          "advance",
          [](plasma& s, int n, bool gauss, const std::optional<array_in>& potentials, bool current) {
            std::vector<double> rows;
            {
              nb::gil_scoped_release others;
              rows = s.advance(n, gauss, potentials ? view(*potentials) : std::span<const double>(), current);
            }
            return to_array(std::move(rows), {std::size_t(n), record::length(s.parameters())});
          },
          "n"_a, "gauss"_a = false, "potentials"_a = nb::none(), "current"_a = true, "[n, columns]")
      .def(
          "balance",
          [](plasma& s, const std::string& by, bool only_if_it_pays, double most_bytes) {
            plaq::balance_result outcome;
            {
              nb::gil_scoped_release others;
              outcome = s.balance({.by = by, .most_bytes = most_bytes, .only_if_it_pays = only_if_it_pays});
            }
            return as_dict(outcome);
          },
          "by"_a = "hilbert_refine", "only_if_it_pays"_a = false, "most_bytes"_a = 0.0)
      .def(
          "record_loads", [](plasma& s, const std::string& file) { s.record_loads(file); }, "file"_a, free_gil())
      .def("save", [](plasma& s, const std::string& folder) { s.save(folder); }, "folder"_a, free_gil());
  bind_patches(bound);
  bind_counts(bound);
}

}  // namespace

void bind_pic(nb::module_& m) {
  bind_pic_plan(m);
  bind_plasma(m);
  m.attr("fields") = field_names();
}
