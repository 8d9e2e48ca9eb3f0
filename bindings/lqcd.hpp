// What the bindings of plaq::lqcd share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"
#include "plaq/lqcd/lattice/flavours.hpp"

namespace plaq::bindings {

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::lqcd;

using free_gil = nb::call_guard<nb::gil_scoped_release>;

/// Context that owns its workers.
struct owned_context {
  owned_context(plaq::comm::messenger& messages, plaq::comm::collectives& collectives, const std::string& backend,
                const plaq::task::options& pool)
      : workers(make_workers(backend, pool)), ctx{*workers, messages, collectives} {}
  std::unique_ptr<plaq::lqcd::workers> workers;
  context ctx;
};

using gauge_links = links<double>;
using spinor = spinors<double>;
using spinor_pair = flavours<double>;

}  // namespace plaq::bindings
