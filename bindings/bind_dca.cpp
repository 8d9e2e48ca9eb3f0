#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/dca/device/walker.hpp"
#include "plaq/dca/solver.hpp"
#include "rules.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::dca;
using namespace plaq::bindings;

void bind_dca_general(nb::module_& m);

namespace {

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

nb::list to_list(const std::vector<chain_state>& states) {
  nb::list out;
  for (const chain_state& s : states) out.append(to_dict(s));
  return out;
}

/// Returns the options of a call from Python; gpus: their numbers, and the ranks that share each.
run_options make_run_options(const std::string& backend, const plaq::task::options& pool,
                             const std::pair<std::vector<int>, int>& gpus, int in_flight) {
  run_options out;
  out.backend = backend;
  out.pool = pool;
  out.in_flight = in_flight;
  for (const int gpu : gpus.first) out.devices.push_back({gpu});
  out.ranks_per_device = gpus.second;
  return out;
}

void bind_bin_array(nb::module_& m) {
  nb::class_<bin_array>(m, "BinArray", "Array of a bin.")
      .def_ro("name", &bin_array::name)
      .def_ro("offset", &bin_array::offset, "Offset of its first number in the bin.")
      .def_prop_ro("size", &bin_array::size, "Number of doubles; a complex value is two.")
      .def_prop_ro(
          "axes",
          [](const bin_array& a) {
            nb::list names;
            for (const axis& along : a.axes) names.append(along.name);
            return nb::tuple(names);
          },
          "Names of the axes; the last one varies fastest.")
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
          "Type of the values: float or complex.");
}

void bind_problem(nb::module_& m) {
  auto bound =
      nb::class_<problem>(m, "Problem", "Problem of one iteration: all that stays fixed while its chains run.")
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
              "Give chain c bath bath_of[c] in place of the problem's.\n\n"
              "A bath is (segments, coefficients) and, where two-particle functions are measured, g0 at their\n"
              "frequencies.")
          .def_prop_ro("beta", [](const problem& p) { return p.model.parameters.beta; });
  bind_rules(bound);
  bind_setting(bound, "block_length", &problem::moves, &move_rules::block_length);
  bind_setting(bound, "sweeps_between_worms", &problem::moves, &move_rules::sweeps_between_worms);
  bind_setting(bound, "sweeps_between_charge_worms", &problem::moves, &move_rules::sweeps_between_charge_worms);
  bind_setting(bound, "single_precision", &problem::moves, &move_rules::single_precision);
  bound.def(
      "layout", [](const problem& p) { return layout_to_dict(layout_of(p.model.parameters.sites, p.measured)); },
      "Return {name: BinArray} of a bin, in the order of the arrays.");
  m.def(
      "two_particle_layout",
      [](int sites, int window, int orbits, int channels) {
        return layout_to_dict(two_particle_layout(sites, window, orbits, channels));
      },
      "sites"_a, "window"_a, "orbits"_a, "channels"_a,
      "Return {name: BinArray} of two-particle functions alone: pairing, of `orbits` orbits of pairs (0: none), and "
      "channels.");
  m.attr("series_columns") = nb::cast(std::vector<std::string>(series_columns.begin(), series_columns.end()));
}

void bind_queue(nb::module_& m) {
  nb::class_<control>(m, "Control", "Counters and stop flag of chains that run on another thread.")
      .def(nb::init<>())
      .def(
          "finish_bins", [](control& c) { c.stop = control::finish; }, "Stop at the end of the current bins.")
      .def(
          "abandon_bins", [](control& c) { c.stop = control::abandon; }, "Stop now; the current bins are lost.")
      .def_prop_ro("measurements", [](const control& c) { return c.measurements.load(); })
      .def_prop_ro("sweeps", [](const control& c) { return c.sweeps.load(); })
      .def_prop_ro("places", [](const control& c) { return c.slots.load(); });

  nb::class_<distributed_g4>(m, "DistributedG4",
                             "Share of this rank of the two-particle sums of one call of run_chains_distributed.")
      .def(
          "__init__",
          [](distributed_g4* self, plaq::comm::messenger& messages, const problem& p, std::vector<int> rank_of) {
            new (self) distributed_g4(messages, p.model, p.measured, std::move(rank_of));
          },
          "messages"_a, "problem"_a, "rank_of"_a, nb::keep_alive<1, 2>(),
          "rank_of[c]: rank of `messages` that runs chain c.")
      .def(
          "take_bins",
          [](distributed_g4& self) {
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
          "Return [chain][bin] shares of the bins completed since the last call.\n\n"
          "A share is rows part/size ... (part + 1)/size of every function.")
      .def_prop_ro(
          "remote_seconds", [](const distributed_g4& self) { return self.remote_seconds.load(); },
          "Seconds of summing measurements of other ranks' chains.");

  nb::class_<chain_queue>(m, "ChainQueue",
                          "Queue of chains that wait for a worker, and of those that were returned by one.")
      .def(nb::init<>())
      .def(
          "add", [](chain_queue& q, const nb::dict& state) { q.add(from_dict(state)); }, "state"_a)
      .def("close", &chain_queue::close, "Declare that no chain will be added.")
      .def(
          "take", [](chain_queue& q, std::size_t most) { return to_list(q.take(most)); }, "most"_a,
          "Return up to `most` waiting chains: recalled ones first, then the last ones.")
      .def(
          "take_complete", [](chain_queue& q) { return to_list(q.take_complete()); },
          "Return the chains that have all their bins.")
      .def("recall", &chain_queue::recall, "chains"_a,
           "Free the chains recalled earlier, and recall this number of running chains at the end of their bin.")
      .def(
          "load",
          [](const chain_queue& q) {
            const auto [waiting, running] = q.state();
            return std::pair(waiting, running);
          },
          "Return (waiting chains, running chains).");
}

void bind_run(nb::module_& m) {
  m.def(
      "run_chains",
      [](const problem& p, chain_queue& queue, const std::string& backend, const plaq::task::options& pool,
         const std::pair<std::vector<int>, int>& gpus, int in_flight, control& c) {
        const problem fixed = p;  // another thread may change the original
        nb::gil_scoped_release release;
        run_chains(fixed, queue, make_run_options(backend, pool, gpus, in_flight), c);
      },
      "problem"_a, "queue"_a, "backend"_a, "options"_a, "gpus"_a, "in_flight"_a, "control"_a,
      "Advance every chain of the queue until its bins are complete or the control stops it.\n\n"
      "Returns when the queue is closed and empty, or all chains are stopped. gpus: numbers of the GPUs where chains\n"
      "walk and are measured (-1: the host in place of one; empty: on the workers), and number of ranks that share "
      "each.");
  m.def(
      "device_chain_bytes",
      [](int sites, int order, int block_length, int frequencies, int histogram_size, int pair_frequencies, int window,
         int orbits, int channels, bool same_spin, int measurements_per_bin) {
        const device::measurement_sizes sizes{sites,  frequencies, histogram_size, pair_frequencies,
                                              window, orbits,      channels,       same_spin};
        return device::chain_bytes(sizes, device::walker::capacity_for(order, block_length), block_length,
                                   measurements_per_bin);
      },
      "sites"_a, "order"_a, "block_length"_a, "frequencies"_a, "histogram_size"_a, "pair_frequencies"_a, "window"_a,
      "orbits"_a, "channels"_a, "same_spin"_a, "measurements_per_bin"_a,
      "Return the bytes of GPU memory of a chain of this order that is measured there.\n\n"
      "frequencies: of the single-particle function; pair_frequencies: positive ones of G(k, k'), 0 without "
      "two-particle\n"
      "functions; orbits: blocks of the pairing function; channels: other two-particle functions; same_spin: one of\n"
      "these is magnetic or charge.");
  m.def(
      "run_chains_distributed",
      [](const problem& p, chain_queue& queue, const std::string& backend, const plaq::task::options& pool,
         const std::pair<std::vector<int>, int>& gpus, control& c, distributed_g4& shares) {
        const problem fixed = p;
        nb::gil_scoped_release release;
        run_chains_distributed(fixed, queue, make_run_options(backend, pool, gpus, 0), c, shares);
      },
      "problem"_a, "queue"_a, "backend"_a, "options"_a, "gpus"_a, "control"_a, "shares"_a,
      "Run chains with two-particle functions distributed over the ranks.\n\n"
      "Collective: every rank calls with a closed queue of its chains. Bins have no two-particle functions; their "
      "shares\n"
      "are in `shares`.");
}

}  // namespace

void bind_dca(nb::module_& m) {
  bind_bin_array(m);
  bind_problem(m);
  bind_queue(m);
  bind_run(m);
  bind_dca_general(m);
}
