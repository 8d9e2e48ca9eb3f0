// Hopping matrix and solver on a GPU: checks them against the processor, then prints times, bytes a second and their
// share of what a copy on the device reaches:
//   bench_device [GPU] [--tiles]     --tiles: all shapes of tiles
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/device/launch.hpp"
#include "plaq/lqcd/device/solver.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"

using namespace plaq;
using namespace plaq::lqcd;
using device::half_field;

namespace {

constexpr precision precisions[] = {precision::in_double, precision::in_single, precision::in_half};
const char* name_of(precision p) {
  return p == precision::in_double ? "double" : p == precision::in_single ? "single" : "half";
}
template <class S>
const char* name_of() {
  return std::same_as<S, double> ? "double" : std::same_as<S, float> ? "single" : "half";
}

template <class S>
constexpr double spinor_bytes = sizeof(device::spinor_block<S>) / double(device::together);
template <class S>
constexpr double hop_bytes = 96 * sizeof(S) + 2 * spinor_bytes<S>;  // 8 links, one spinor read, one written
/// Bytes of a step of conjugate gradient for a site of a parity: four hops, two with d phi, one with a base; and the
/// end.
template <class S, class R>
constexpr double step_bytes = 4 * 96 * sizeof(S) + 11 * spinor_bytes<S> + 5 * spinor_bytes<R>;
constexpr double flops = 1320;

constexpr coordinates all_shapes[] = {{1, 2, 4, 16}, {1, 4, 2, 16},  {1, 1, 8, 16}, {2, 1, 4, 16}, {4, 2, 1, 16},
                                      {4, 2, 2, 8},  {2, 4, 2, 8},   {2, 2, 4, 8},  {4, 4, 2, 4},  {1, 2, 2, 16},
                                      {1, 1, 4, 16}, {2, 2, 2, 8},   {2, 2, 4, 16}, {4, 2, 2, 16}, {2, 4, 2, 16},
                                      {1, 4, 4, 16}, {1, 1, 16, 16}, {4, 4, 2, 8},  {4, 4, 4, 4}};

void wait_for(const gpu::memory& m) {
  double number;
  m.get(0, &number, sizeof number);
}

/// Median seconds of f(), called `calls` times between two waits.
template <class F>
double seconds(const gpu::memory& m, int calls, F&& f) {
  std::vector<double> samples;
  for (int sample = -1; sample < 9; ++sample) {
    wait_for(m);
    const stopwatch time;
    for (int i = 0; i < calls; ++i) f();
    wait_for(m);
    if (sample >= 0) samples.push_back(time.seconds() / calls);
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

/// Links of SU(3) at random, repeated from a lattice of 8^4, antiperiodic in time.
struct repeated_links {
  repeated_links() : layout(std::make_shared<site_layout>(lqcd::lattice({8, 8, 8, 8}), 1)), small(layout) {
    hot_start(small, 1);
  }
  device::hopping on(workers& by, const coordinates& extents, gpu::device where) const {
    const angles theta{1, 0, 0, 0};
    const auto phase = std::polar(1.0, 3.14159265358979323846 / extents[0]);
    return {by, extents,
            [&](const coordinates& x, int mu) {
              std::array<std::complex<double>, 9> u;
              const auto at = layout->locate({x[0] % 8, x[1] % 8, x[2] % 8, x[3] % 8});
              for (int i = 0; i < 9; ++i) u[i] = (mu == 0 ? phase : 1.0) * small.get(at, 9 * mu + i);
              return u;
            },
            phase_determinants<double>(theta, extents), where};
  }
  std::shared_ptr<const site_layout> layout;
  links<double> small;
};

/// Numbers between -1 and 1.
template <class S>
half_field<S> random_field(const device::hopping& H) {
  std::vector<device::spinor_block<double>> blocks(std::size_t(device::blocks_for(H.sites())));
  std::uint32_t random = 1;
  for (auto& b : blocks)
    for (auto& row : b.at)
      for (auto& p : row)
        for (double& z : p.at) random = random * 1664525u + 1013904223u, z = double(random) / (1u << 31) - 1;
  half_field<double> exact(H.where(), H.sites());
  exact.memory().put(0, blocks.data(), exact.memory().size());
  half_field<S> out(H.where(), H.sites());
  launch(H.where(), device::convert<S>{{H.sites()}, out.data(), exact.data(), 1});
  wait_for(out.memory());
  return out;
}

/// Whether the hopping matrix is that of the processor, with the bits of the kernel on the host.
template <class S>
bool check_hopping(wilson<double>& M, gpu::device where, double most) {
  const auto& layout = M.layout();
  workers& by = M.ctx().workers;
  spinors<double> psi(layout), expected(layout), found(layout), on_host(layout);
  gaussian(psi, 5, 0);
  device::hopping there(M, where), here(M, {});
  for (const int parity : {0, 1})
    for (auto* H : {&there, &here}) {
      half_field<double> in(H->where(), H->sites()), out(H->where(), H->sites());
      half_field<S> low(H->where(), H->sites()), result(H->where(), H->sites());
      copy_to_device(by, psi, 1 - parity, in);
      launch(H->where(), device::convert<S>{{H->sites()}, low.data(), in.data(), 1});
      auto k = H->kernel(result, low, parity);
      launch(H->where(), k);
      out.memory().clear();
      launch(H->where(), device::accumulate<S>{{H->sites()}, out.data(), result.data(), 1});
      copy_from_device(by, out, parity, H == &there ? found : on_host);
    }
  // M psi = A psi - kappa H psi.
  M.apply(expected, psi);
  const auto twist = std::complex<double>(1, 2 * M.parameters().kappa * M.parameters().mu);
  double worst = 0, largest = 0;
  for_each_site(*layout, [&](const coordinates&, site_layout::location at) {
    for (int i = 0; i < 12; ++i) {
      const auto H = ((i < 6 ? twist : std::conj(twist)) * psi.get(at, i) - expected.get(at, i)) / M.parameters().kappa;
      worst = std::max(worst, std::abs(H - found.get(at, i))), largest = std::max(largest, std::abs(H));
    }
  });
  const bool same = std::memcmp(found.data(), on_host.data(), found.size() * sizeof(double)) == 0;
  std::printf("check: hopping matrix in %s: error %.1e, bits of the host: %s\n", name_of<S>(), worst / largest,
              same ? "yes" : "NO");
  return same && worst / largest < most;
}

bool check(context& ctx, gpu::device where) {
  const auto layout = std::make_shared<site_layout>(lqcd::lattice({8, 4, 6, 12}), 1);
  links<double> gauge(layout);
  hot_start(gauge, 3);
  wilson<double> M(ctx, gauge, {.kappa = 0.15, .mu = 0.02, .theta = {1, 0, 0, 0.5}}, layout);
  bool good = check_hopping<double>(M, where, 1e-13);
  good = check_hopping<float>(M, where, 1e-6) && good;
  good = check_hopping<fixed16>(M, where, 2e-4) && good;
  spinors<double> eta(layout), psi(layout), left(layout), on_host(layout);
  gaussian(eta, 5, 1);
  device::solver there(M, where), here(M, {});
  for (const precision p : precisions) {
    const auto found = there.solve(psi, eta, {.steps = p, .residual = 1e-11});
    here.solve(on_host, eta, {.steps = p, .residual = 1e-11});
    M.apply(left, psi);
    const double residual = std::sqrt(combine_norm2<double>(ctx, left, {{1, eta}, {-1, left}}) / norm2(ctx, eta));
    const bool same = std::memcmp(psi.data(), on_host.data(), psi.size() * sizeof(double)) == 0;
    std::printf("check: cg in %s: %s; residual on the processor %.2e; bits of the host: %s\n", name_of(p),
                found.to_string().c_str(), residual, same ? "yes" : "NO");
    good = good && same && residual < 1.01e-11;
  }
  std::printf("check: %s\n", good ? "passed" : "FAILED");
  return good;
}

/// Bytes a second that are read and written by the faster of the runtime's copy and a kernel's.
double copy_speed(gpu::device where) {
  const int sites = 1 << 23;
  half_field<double> a(where, sites), b(where, sites);
  a.memory().clear(), b.memory().clear();
  const std::size_t bytes = a.memory().size();
  const double by_runtime = 2 * double(bytes) / seconds(b.memory(), 4, [&] { b.memory().put(0, a.data(), bytes); });
  const double by_kernel = 2 * double(bytes) / seconds(b.memory(), 4, [&] {
                             launch(where, device::convert<double>{{sites}, b.data(), a.data(), 1});
                           });
  std::printf("copy on the device: %.0f GB/s by the runtime, %.0f GB/s by a kernel, read and written\n",
              1e-9 * by_runtime, 1e-9 * by_kernel);
  return std::max(by_runtime, by_kernel);
}

template <class S>
void time_hopping(device::hopping& H, double copy, const std::vector<coordinates>& tiles) {
  const auto in = random_field<S>(H);
  half_field<S> out(H.where(), H.sites());
  gpu::memory parts(H.where(), std::size_t(H.sites()) * sizeof(double));
  double first = 0;
  for (const coordinates& tile : tiles) {
    H.set_tiles(tile);
    auto k = H.kernel(out, in, 1);
    const double t = seconds(out.memory(), 10, [&] { launch(H.where(), k); });
    auto* const sums = reinterpret_cast<double*>(parts.data());
    half_field<double> exact(H.where(), H.sites());
    exact.memory().clear();
    launch(H.where(), device::accumulate<S>{{H.sites()}, exact.data(), out.data(), 1});
    const device::overlap<double, double> square{{H.sites()}, exact.data(), exact.data(), sums};
    launch(H.where(), square);
    launch(H.where(), device::total{{}, sums, square.blocks(), 1, sums});
    double norm = 0;
    parts.get(0, &norm, sizeof norm);
    if (first == 0) first = norm;
    k.phi = in.data(), k.d = {1, 0}, k.norm2 = sums;
    const double with_norm = seconds(out.memory(), 10, [&] { launch(H.where(), k); });
    const double speed = hop_bytes<S> * H.sites() / t;
    std::printf(
        "%-7s %2d %2d %2d %2d   %8.1f us  %6.0f GB/s  %5.1f %%  %7.0f Gflop/s   with d phi and norm %8.1f us  %5.1f "
        "%%%s\n",
        name_of<S>(), H.lattice().tile_extent(0), H.lattice().tile_extent(1), H.lattice().tile_extent(2),
        H.lattice().tile_extent(3), 1e6 * t, 1e-9 * speed, 100 * speed / copy, 1e-9 * flops * H.sites() / t,
        1e6 * with_norm, 100 * (hop_bytes<S> + spinor_bytes<S>)*H.sites() / with_norm / copy,
        norm == first ? "" : "  OTHER BITS");
    std::fflush(stdout);
  }
  H.set_tiles(device::hopping::tile);
}

void time_solver(workers& by, device::hopping H, double copy, double kappa) {
  const coordinates extents = H.extents();
  const gpu::device where = H.where();
  const int sites = H.sites();
  device::solver inverse(by, std::move(H), kappa, 0.01);
  device::solver::half_fields psi{half_field<double>(where, sites), half_field<double>(where, sites)};
  const device::solver::half_fields eta{random_field<double>(inverse.H()), random_field<double>(inverse.H())};
  for (const precision p : precisions) {
    double times[2];
    solver_result found[2];
    for (const int n : {0, 1}) {
      inverse.solve(psi, eta, {.steps = p, .residual = 1e-10, .max_steps = 1});  // makes links, warms up
      wait_for(psi[1].memory());
      const stopwatch time;
      found[n] = inverse.solve(psi, eta, {.steps = p, .residual = 1e-10, .max_steps = n ? 3000 : 5});
      wait_for(psi[1].memory());
      times[n] = time.seconds();
    }
    const double step = (times[1] - times[0]) / (found[1].steps - found[0].steps);
    const double bytes = p == precision::in_double   ? step_bytes<double, double>
                         : p == precision::in_single ? step_bytes<float, float>
                                                     : step_bytes<fixed16, float>;
    std::printf("%-7s %8.1f us a step  %6.0f GB/s  %5.1f %%  %7.0f Gflop/s   %.4f s: %s\n", name_of(p), 1e6 * step,
                1e-9 * bytes * sites / step, 100 * bytes * sites / step / copy, 1e-9 * 4 * flops * sites / step,
                times[1], found[1].to_string().c_str());
    std::fflush(stdout);
  }
  const auto layout = std::make_shared<site_layout>(lqcd::lattice(extents), 1);
  spinors<double> on_host(layout);
  const stopwatch time;
  for (const int parity : {0, 1}) copy_from_device(by, psi[parity], parity, on_host);
  const double down = time.seconds();
  for (const int parity : {0, 1}) copy_to_device(by, on_host, parity, psi[parity]);
  std::printf("copies of a spinor field: %.3f s from the device, %.3f s to it\n", down, time.seconds() - down);
}

}  // namespace

int main(int argc, char** argv) try {
  gpu::device where{0};
  bool all_tiles = false;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--tiles")
      all_tiles = true;
    else
      where.gpu = std::atoi(argv[i]);
  const auto found = gpu::find_devices();
  if (where.gpu >= int(found.gpus.size()) && where.gpu >= 0) {
    std::printf("no GPU %d: %s\n", where.gpu, found.why_none.c_str());
    return 1;
  }
  const bool on_host = where.gpu < 0;
  const stopwatch all;
  const comm::communicator self(comm::serial_wire());
  comm::messenger messages(self);
  comm::collectives collectives(self);
  const auto by = make_workers("os", {.workers = int(std::min(16u, std::thread::hardware_concurrency()))});
  context ctx{*by, messages, collectives};
  std::printf("%s\n", on_host ? "host" : found.gpus[std::size_t(where.gpu)].name.c_str());
  const bool good = check(ctx, where);
  const double copy = on_host ? 1e10 : copy_speed(where);
  std::vector<coordinates> tiles{device::hopping::tile};
  if (all_tiles)
    for (const coordinates& tile : all_shapes)
      if (product(tile) <= device::hop<double>::most_threads) tiles.push_back(tile);
  const repeated_links U;
  std::vector<coordinates> boxes{{16, 16, 16, 16}, {48, 24, 24, 24}, {64, 32, 32, 32}};
  if (on_host) boxes = {{8, 8, 8, 8}};
  for (const coordinates& box : boxes) {
    device::hopping H = U.on(*by, box, where);
    std::printf("\n%s sites (t, x, y, z); time since start %.1f s\nhopping matrix, tile (t, x, y, z / 2):\n",
                to_string(box).c_str(), all.seconds());
    const bool large = product(box) > 1'000'000;
    const auto& shapes = large || on_host ? tiles : std::vector<coordinates>{device::hopping::tile};
    time_hopping<double>(H, copy, shapes);
    time_hopping<float>(H, copy, shapes);
    time_hopping<fixed16>(H, copy, shapes);
    std::printf("conjugate gradient:\n");
    time_solver(*by, std::move(H), copy, 0.2);
  }
  std::printf("\n%.1f s in all\n", all.seconds());
  return good ? 0 : 1;
} catch (const std::exception& e) {
  std::printf("error: %s\n", e.what());
  return 1;
}
