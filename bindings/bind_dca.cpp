#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/device/walker.hpp"
#include "plaq/dca/solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::dca;

namespace {

template <class T>
using flat = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const flat<T>& a) {
  return {a.data(), a.data() + a.size()};
}

template <class T>
auto to_numpy(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner);
}

nb::dict to_dict(const chain_state& s) {
  nb::dict out;
  out["number"] = s.number;
  out["warm"] = s.warm;
  out["sign"] = s.current.sign;
  std::vector<std::int32_t> site, spin;
  std::vector<double> tau;
  for (const vertex& v : s.current.vertices) site.push_back(v.site), spin.push_back(v.spin), tau.push_back(v.tau);
  const std::size_t k = tau.size();
  out["site"] = to_numpy(site, {k});
  out["spin"] = to_numpy(spin, {k});
  out["tau"] = to_numpy(tau, {k});
  out["drift"] = s.drift;
  out["proposed"] = s.moves.proposed;
  out["accepted"] = s.moves.accepted;
  out["walking_seconds"] = s.walking_seconds;
  out["measuring_seconds"] = s.measuring_seconds;
  out["bins_done"] = s.bins_done;
  nb::list bins, series;
  for (const bin_result& b : s.bins) {
    bins.append(to_numpy(b.sums, {b.sums.size()}));
    std::vector<float> values(b.series.size() * series_columns.size());
    if (!values.empty()) std::memcpy(values.data(), b.series.data(), values.size() * sizeof(float));
    series.append(to_numpy(values, {b.series.size(), series_columns.size()}));
  }
  out["bins"] = bins;
  out["series"] = series;
  return out;
}

chain_state from_dict(const nb::dict& d) {
  chain_state s;
  s.number = nb::cast<std::uint32_t>(d["number"]);
  s.warm = nb::cast<bool>(d["warm"]);
  s.current.sign = nb::cast<double>(d["sign"]);
  const auto site = nb::cast<flat<std::int32_t>>(d["site"]);
  const auto spin = nb::cast<flat<std::int32_t>>(d["spin"]);
  const auto tau = nb::cast<flat<double>>(d["tau"]);
  plaq::check(site.size() == tau.size() && spin.size() == tau.size(), "a chain's vertices have unequal lengths");
  for (std::size_t i = 0; i < tau.size(); ++i)
    s.current.vertices.push_back({site.data()[i], spin.data()[i], tau.data()[i]});
  s.drift = nb::cast<double>(d["drift"]);
  s.moves = {nb::cast<std::uint64_t>(d["proposed"]), nb::cast<std::uint64_t>(d["accepted"])};
  s.walking_seconds = nb::cast<double>(d["walking_seconds"]);
  s.measuring_seconds = nb::cast<double>(d["measuring_seconds"]);
  s.bins_done = nb::cast<std::uint32_t>(d["bins_done"]);
  const auto bins = nb::cast<nb::list>(d["bins"]), series = nb::cast<nb::list>(d["series"]);
  plaq::check(nb::len(bins) == nb::len(series), "a chain's bins and series have unequal lengths");
  for (std::size_t i = 0; i < nb::len(bins); ++i) {
    bin_result b;
    b.sums = copied(nb::cast<flat<double>>(bins[i]));
    const auto rows =
        nb::cast<nb::ndarray<const float, nb::shape<-1, series_columns.size()>, nb::c_contig, nb::device::cpu>>(
            series[i]);
    b.series.resize(rows.shape(0));
    if (!b.series.empty()) std::memcpy(b.series.data(), rows.data(), b.series.size() * sizeof(record));
    s.bins.push_back(std::move(b));
  }
  return s;
}

using problem_ptr = std::shared_ptr<problem>;

problem_ptr make_problem(double beta, double U, double K, int sites, int segments, flat<double> g0_coefficients,
                         flat<std::int32_t> difference, flat<std::complex<double>> fourier,
                         flat<std::int32_t> momentum_sum, flat<std::int32_t> minus,
                         flat<std::int32_t> odd_frequencies) {
  auto p = std::make_shared<problem>();
  p->model.parameters = {beta, U, sites, K};
  p->model.difference = copied(difference);
  p->model.g0 = std::make_shared<g0_table>(beta, sites, segments, copied(g0_coefficients), p->model.difference);
  p->model.momenta = {sites, copied(fourier), copied(momentum_sum), copied(minus)};
  p->measured.odd_frequencies = copied(odd_frequencies);
  return p;
}

}  // namespace

void bind_dca(nb::module_& m) {
  nb::class_<bin_array>(m, "BinArray", "One measured array among the numbers of a bin.")
      .def_ro("name", &bin_array::name)
      .def_ro("offset", &bin_array::offset, "Of its first number.")
      .def_prop_ro("size", &bin_array::size, "Numbers of the whole; a complex value is two.")
      .def_prop_ro(
          "axes",
          [](const bin_array& a) {
            nb::list names;
            for (const axis& along : a.axes) names.append(along.name);
            return nb::tuple(names);
          },
          "Their names; the last one varies fastest.")
      .def_prop_ro("shape",
                   [](const bin_array& a) {
                     nb::list sizes;
                     for (const axis& along : a.axes) sizes.append(along.size);
                     return nb::tuple(sizes);
                   })
      .def_prop_ro(
          "dtype",
          [](const bin_array& a) {
            return nb::borrow(reinterpret_cast<PyObject*>(a.complex ? &PyComplex_Type : &PyFloat_Type));
          },
          "float or complex");
  const auto to_dict_of = [](const bin_layout& layout) {
    nb::dict out;
    for (const bin_array& a : layout) out[a.name.c_str()] = a;
    return out;
  };
  const char* const what = "Everything that stays fixed while the chains of one iteration run.";
  auto bound =
      nb::class_<problem>(m, "Problem", what)
          .def(
              "__init__",
              [](problem* self, double beta, double U, double K, int sites, int segments, flat<double> g0_coefficients,
                 flat<std::int32_t> difference, flat<std::complex<double>> fourier, flat<std::int32_t> momentum_sum,
                 flat<std::int32_t> minus, flat<std::int32_t> odd_frequencies) {
                new (self) problem(*make_problem(beta, U, K, sites, segments, g0_coefficients, difference, fourier,
                                                 momentum_sum, minus, odd_frequencies));
              },
              "beta"_a, "U"_a, "K"_a, "sites"_a, "segments"_a, "g0_coefficients"_a, "difference"_a, "fourier"_a,
              "momentum_sum"_a, "minus"_a, "odd_frequencies"_a)
          .def(
              "measure_two_particle",
              [](problem& whole, int window, int frequencies, flat<std::complex<double>> g0_frequency, bool pairing,
                 flat<std::int32_t> orbit, const std::vector<std::string>& kinds, const std::vector<int>& transfers,
                 const std::vector<int>& bosonic) {
                measurement_list& p = whole.measured;
                p.window = window;
                p.two_particle_frequencies = frequencies;
                p.g0_frequency = copied(g0_frequency);
                p.pairing = pairing;
                p.orbit = copied(orbit);
                p.channels.clear();
                plaq::check(kinds.size() == transfers.size() && kinds.size() == bosonic.size(),
                            "channels, transfers and bosonic indices have unequal lengths");
                for (std::size_t i = 0; i < kinds.size(); ++i)
                  p.channels.push_back({channel_named(kinds[i]), transfers[i], bosonic[i]});
              },
              "window"_a, "frequencies"_a, "g0_frequency"_a, "pairing"_a, "orbit"_a, "kinds"_a, "transfers"_a,
              "bosonic"_a)
          .def(
              "set_baths",
              [](problem& p, const std::vector<std::pair<int, flat<double>>>& tables,
                 const std::vector<flat<std::complex<double>>>& g0_frequencies, const std::vector<int>& bath_of) {
                plaq::check(tables.size() == g0_frequencies.size(),
                            "tables and frequencies of baths have unequal lengths");
                std::vector<std::shared_ptr<const bath_function>> baths;
                for (std::size_t i = 0; i < tables.size(); ++i)
                  baths.push_back(std::make_shared<bath_function>(
                      std::make_shared<g0_table>(p.model.parameters.beta, p.model.parameters.sites, tables[i].first,
                                                 copied(tables[i].second), p.model.difference),
                      copied(g0_frequencies[i])));
                p.baths.clear();
                for (const int b : bath_of) p.baths.push_back(baths.at(std::size_t(b)));
              },
              "tables"_a, "g0_frequencies"_a, "bath_of"_a,
              "Chain c has bath bath_of[c] in place of the problem's: (segments, coefficients) and, where "
              "two-particle\n"
              "functions are measured, g0 at their frequencies.")
          .def_prop_ro("beta", [](const problem& p) { return p.model.parameters.beta; });
  const auto rw = [&bound]<class Role, class T>(const char* name, Role problem::*role, T Role::*value) {
    bound.def_prop_rw(
        name, [=](const problem& p) { return p.*role.*value; }, [=](problem& p, T given) { p.*role.*value = given; });
  };
  rw("block_length", &problem::moves, &move_rules::block_length);
  rw("proposals_per_sweep", &problem::moves, &move_rules::proposals_per_sweep);
  rw("sweeps_between_rebuilds", &problem::moves, &move_rules::sweeps_between_rebuilds);
  rw("sweeps_between_worms", &problem::moves, &move_rules::sweeps_between_worms);
  rw("sweeps_between_charge_worms", &problem::moves, &move_rules::sweeps_between_charge_worms);
  rw("single_precision", &problem::moves, &move_rules::single_precision);
  rw("histogram_size", &problem::measured, &measurement_list::histogram_size);
  rw("warm_up_sweeps", &problem::rules, &chain_rules::warm_up_sweeps);
  rw("sweeps_per_measurement", &problem::rules, &chain_rules::sweeps_per_measurement);
  rw("measurements_per_bin", &problem::rules, &chain_rules::measurements_per_bin);
  rw("bins", &problem::rules, &chain_rules::bins);
  rw("seed", &problem::rules, &chain_rules::seed);
  rw("point", &problem::rules, &chain_rules::point);
  rw("iteration", &problem::rules, &chain_rules::iteration);
  bound.def(
      "layout", [to_dict_of](const problem& p) { return to_dict_of(layout_of(p.model.parameters.sites, p.measured)); },
      "{name: BinArray} of the sums in a bin, in their order.");
  m.def(
      "two_particle_layout",
      [to_dict_of](int sites, int window, int orbits, int channels) {
        return to_dict_of(two_particle_layout(sites, window, orbits, channels));
      },
      "sites"_a, "window"_a, "orbits"_a, "channels"_a,
      "The same of two-particle functions alone: pairing, of so many orbits of pairs (0: none), and channels.");
  m.attr("series_columns") = nb::cast(std::vector<std::string>(series_columns.begin(), series_columns.end()));

  nb::class_<control>(m, "Control", "Watches and stops chains that run on another thread.")
      .def(nb::init<>())
      .def(
          "finish_bins", [](control& c) { c.stop = control::finish; }, "Stop at the end of the bins under way.")
      .def(
          "abandon_bins", [](control& c) { c.stop = control::abandon; }, "Stop now; bins under way are lost.")
      .def_prop_ro("measurements", [](const control& c) { return c.measurements.load(); })
      .def_prop_ro("sweeps", [](const control& c) { return c.sweeps.load(); })
      .def_prop_ro("places", [](const control& c) { return c.slots.load(); });

  nb::class_<g4_spread>(m, "G4Spread", "This rank's share of the two-particle sums of one call of run_chains.")
      .def(
          "__init__",
          [](g4_spread* self, plaq::comm::messenger& messages, const problem& p, std::vector<int> rank_of) {
            new (self) g4_spread(messages, p.model, p.measured, std::move(rank_of));
          },
          "messages"_a, "problem"_a, "rank_of"_a, nb::keep_alive<1, 2>(),
          "rank_of[c] is the rank of `messages` that runs chain c.")
      .def(
          "take_bins",
          [](g4_spread& self) {
            nb::list chains;
            for (auto& bins : self.bins) {
              nb::list shares;
              for (auto& share : std::exchange(bins, {})) {
                const std::size_t size = share.size();
                shares.append(to_numpy(std::move(share), {size}));
              }
              chains.append(shares);
            }
            return chains;
          },
          "[chain][bin] shares of the bins completed since the last call: rows part/size ... (part + 1)/size of "
          "every "
          "function.")
      .def_prop_ro(
          "follow_seconds", [](const g4_spread& self) { return self.follow_seconds.load(); },
          "Of summing what chains of other ranks measured.");

  const auto to_list = [](const std::vector<chain_state>& states) {
    nb::list out;
    for (const chain_state& s : states) out.append(to_dict(s));
    return out;
  };
  nb::class_<chain_queue>(m, "ChainQueue", "Chains that wait for a worker, and those that came back from one.")
      .def(nb::init<>())
      .def(
          "add", [](chain_queue& q, const nb::dict& state) { q.add(from_dict(state)); }, "state"_a)
      .def("close", &chain_queue::close, "Nothing will be added any more.")
      .def(
          "take", [to_list](chain_queue& q, std::size_t most) { return to_list(q.take(most)); }, "most"_a,
          "Up to so many chains that wait: those that were recalled, then the last ones.")
      .def(
          "take_complete", [to_list](chain_queue& q) { return to_list(q.take_complete()); },
          "Those that have all their bins.")
      .def("recall", &chain_queue::recall, "chains"_a,
           "Frees chains recalled before, and calls back so many of those that run, at the end of their bin.")
      .def(
          "load",
          [](const chain_queue& q) {
            const auto [waiting, running] = q.state();
            return std::pair(waiting, running);
          },
          "(chains that wait, chains that run).");

  const auto how = [](const std::string& backend, const plaq::task::options& pool,
                      const std::pair<std::vector<int>, int>& gpus, int in_flight) {
    run_options out;
    out.backend = backend;
    out.pool = pool;
    out.in_flight = in_flight;
    for (const int gpu : gpus.first) out.devices.push_back({gpu});
    out.ranks_per_device = gpus.second;
    return out;
  };
  m.def(
      "run_chains",
      [how](const problem& p, chain_queue& queue, const std::string& backend, const plaq::task::options& pool,
            const std::pair<std::vector<int>, int>& gpus, int in_flight, control& c) {
        const problem fixed = p;  // while another thread may set the original
        nb::gil_scoped_release release;
        run_chains(fixed, queue, how(backend, pool, gpus, in_flight), c);
      },
      "problem"_a, "queue"_a, "backend"_a, "options"_a, "gpus"_a, "in_flight"_a, "control"_a,
      "Takes every chain of the queue on until its bins are complete or the control stops it; returns when the "
      "queue\n"
      "is closed and empty, or all are stopped. gpus: where chains walk and are measured, by number; -1 is the host "
      "in\n"
      "place of one, none are the workers; and how many ranks of the machine share each.");
  m.def(
      "device_chain_bytes",
      [](int sites, int order, int block_length, int frequencies, int histogram_size, int pair_frequencies, int window,
         int orbits, int channels, bool same_spin, int measurements_per_bin) {
        const device::measurement_sizes sizes{sites,  frequencies, histogram_size, pair_frequencies,
                                              window, orbits,      channels,       same_spin};
        return device::chain_bytes(sizes, device::walker::room_for(order, block_length), block_length,
                                   measurements_per_bin);
      },
      "sites"_a, "order"_a, "block_length"_a, "frequencies"_a, "histogram_size"_a, "pair_frequencies"_a, "window"_a,
      "orbits"_a, "channels"_a, "same_spin"_a, "measurements_per_bin"_a,
      "What a chain of this order that is measured on a GPU takes of its memory. frequencies: of the single-particle\n"
      "function; pair_frequencies: positive ones of G(k, k'), 0 without two-particle functions; orbits: blocks of the\n"
      "pairing function; channels: other two-particle functions; same_spin: one of these is magnetic or charge.");
  m.def(
      "run_chains_spread",
      [how](const problem& p, chain_queue& queue, const std::string& backend, const plaq::task::options& pool,
            const std::pair<std::vector<int>, int>& gpus, control& c, g4_spread& spread) {
        const problem fixed = p;
        nb::gil_scoped_release release;
        run_chains_spread(fixed, queue, how(backend, pool, gpus, 0), c, spread);
      },
      "problem"_a, "queue"_a, "backend"_a, "options"_a, "gpus"_a, "control"_a, "spread"_a,
      "The same on all ranks together, each with a closed queue of all chains that it runs. Bins have no\n"
      "two-particle functions: their shares are in `spread`.");
}
