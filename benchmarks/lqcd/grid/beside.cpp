// Operators and solvers of Grid, printed as bench_operators and peers.py print plaq's. With an installed Grid:
//   $(grid-config --cxx) $(grid-config --cxxflags) -I benchmarks/lqcd benchmarks/lqcd/grid/beside.cpp \
//     $(grid-config --ldflags) -lGrid $(grid-config --libs) -o beside
//   ./beside --grid X.Y.Z.T --threads N --dslash-unroll [--only OPERATOR]     time of operators (operators.py)
//   ./beside ... --solve FILE KAPPA RESIDUAL                                  solves on a field in NERSC's format
//   ./beside ... --trajectories FILE KAPPA RESIDUAL BETA OUTER INNER NUMBER   hybrid Monte Carlo from such a field
//   (peers.py)
#include <Grid/Grid.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "blocks.hpp"

using namespace Grid;

namespace {

double mass_of(double kappa) { return 0.5 / kappa - 4; }

/// Seconds of the processor, of wall time with several threads.
double seconds_now() { return seconds_of(GridThread::GetThreads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC); }

template <class Impl>
struct lattices {
  GridCartesian* all =
      SpaceTimeGrid::makeFourDimGrid(GridDefaultLatt(), GridDefaultSimd(Nd, Impl::Simd::Nsimd()), GridDefaultMpi());
  GridRedBlackCartesian* halves = SpaceTimeGrid::makeFourDimRedBlackGrid(all);
};

template <class Impl>
void time_operators(const char* precision, const std::string& only) {
  lattices<Impl> grids;
  using fermion = typename Impl::FermionField;
  typename Impl::GaugeField gauge(grids.all);
  GridParallelRNG random_numbers(grids.all);
  random_numbers.SeedFixedIntegers({1, 2, 3, 4});
  SU<Nc>::HotConfiguration(random_numbers, gauge);
  fermion a(grids.all), b(grids.all), even(grids.halves), odd(grids.halves), out(grids.halves);
  gaussian(random_numbers, a);
  pickCheckerboard(Even, even, a), pickCheckerboard(Odd, odd, a);
  out.Checkerboard() = Odd;
  const auto print = [&](const std::string& what, const std::function<void()>& call) {
    const auto t = time_blocks(call);
    const double sites = 1e-9 * double(grids.all->gSites());
    std::printf("%s,%s,%.3f,%.3f\n", what.c_str(), precision, t.processor / sites, t.wall / sites);
    std::fflush(stdout);
  };
  const auto both = [&](const std::string& name, auto& M) {
    print(name, [&] { M.M(a, b); });
    SchurDiagMooeeOperator<std::remove_reference_t<decltype(M)>, fermion> preconditioned(M);
    print(name + ", even-odd", [&] { preconditioned.Mpc(odd, out); });
  };
  const double mass = mass_of(0.12);
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  if (wanted("hopping")) {
    WilsonFermion<Impl> M(gauge, *grids.all, *grids.halves, mass);
    print("hopping, whole", [&] { M.Dhop(a, b, 0); });
    fermion of_even(grids.halves), of_odd(grids.halves);
    print("hopping, halves", [&] { M.DhopEO(odd, of_even, 0), M.DhopOE(even, of_odd, 0); });
  }
  if (wanted("wilson")) {
    WilsonFermion<Impl> M(gauge, *grids.all, *grids.halves, mass);
    both("wilson", M);
  }
  if (wanted("twisted mass")) {
    WilsonTMFermion<Impl> M(gauge, *grids.all, *grids.halves, mass, 0.1);
    both("twisted mass", M);
  }
  if (wanted("clover")) {
    WilsonCloverFermion<Impl, CloverHelpers<Impl>> M(gauge, *grids.all, *grids.halves, mass, 1, 1);
    both("clover", M);
    CompactWilsonCloverFermion<Impl, CompactCloverHelpers<Impl>> compact(gauge, *grids.all, *grids.halves, mass, 1, 1);
    both("clover, compact", compact);
  }
}

void time_solves(const std::string& file, double kappa, double residual) {
  lattices<WilsonImplD> grids;
  lattices<WilsonImplF> low;
  LatticeGaugeFieldD gauge(grids.all);
  LatticeGaugeFieldF gauge_in_single(low.all);
  FieldMetaData header;
  NerscIO::readConfiguration(gauge, header, file);
  precisionChange(gauge_in_single, gauge);
  WilsonFermionD M(gauge, *grids.all, *grids.halves, mass_of(kappa));
  WilsonFermionF M_in_single(gauge_in_single, *low.all, *low.halves, mass_of(kappa));
  SchurDiagMooeeOperator<WilsonFermionD, LatticeFermionD> normal(M);
  SchurDiagMooeeOperator<WilsonFermionF, LatticeFermionF> normal_in_single(M_in_single);
  const auto print = [](const char* what, double seconds, int steps) {
    std::printf("%s,%.6f,%d\n", what, seconds, steps);
  };
  double seconds[2] = {}, start;
  int steps[2] = {};
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour) {
      LatticeFermionD eta(grids.all), psi(grids.all);
      eta = Zero(), psi = Zero();
      SpinColourVectorD at_origin = Zero();
      at_origin()(spin)(colour) = 1;
      pokeSite(at_origin, eta, Coordinate({0, 0, 0, 0}));
      ConjugateGradient<LatticeFermionD> cg(residual, 100000);
      SchurRedBlackDiagMooeeSolve<LatticeFermionD> solve(cg);
      start = seconds_now();
      solve(M, eta, psi);
      seconds[0] += seconds_now() - start, steps[0] += cg.IterationsToComplete;
      LatticeFermionD source(grids.halves), rhs(grids.halves), x(grids.halves), even(grids.halves);
      pickCheckerboard(Odd, source, eta), pickCheckerboard(Even, even, eta);
      x.Checkerboard() = Odd, x = Zero();
      start = seconds_now();
      // M^+ (eta_o - M_oe M_ee^-1 eta_e)
      LatticeFermionD t(grids.halves);
      M.MooeeInv(even, t), M.Meooe(t, rhs);
      rhs = source - rhs;
      normal.MpcDag(rhs, source);
      MixedPrecisionConjugateGradient<LatticeFermionD, LatticeFermionF> mixed(residual, 100000, 50, low.halves,
                                                                              normal_in_single, normal);
      mixed(source, x);
      seconds[1] += seconds_now() - start;
      steps[1] += mixed.TotalInnerIterations + mixed.TotalFinalStepIterations;
    }
  print("propagator, double", seconds[0], steps[0]);
  print("propagator, single", seconds[1], steps[1]);
  LatticeFermionD all(grids.all), phi(grids.halves);
  GridParallelRNG random_numbers(grids.all);
  random_numbers.SeedFixedIntegers({1, 2, 3, 4});
  gaussian(random_numbers, all);
  pickCheckerboard(Odd, phi, all);
  MultiShiftFunction shifts(10, 0, 1);
  shifts.order = 10, shifts.tolerances.assign(10, residual), shifts.norm = 0;
  for (int i = 0; i < 10; ++i) shifts.poles[i] = 0.001 * (1 << i) / (4 * kappa * kappa), shifts.residues[i] = 1;
  std::vector<LatticeFermionD> x(10, grids.halves);
  ConjugateGradientMultiShift<LatticeFermionD> multishift(100000, shifts);
  std::vector<double> calls;
  for (int i = 0; i < 5; ++i) {
    start = seconds_now();
    multishift(normal, phi, x);
    calls.push_back(seconds_now() - start);
  }
  std::nth_element(calls.begin(), calls.begin() + 2, calls.end());
  print("ten shifts", calls[2], multishift.IterationsToComplete);
}

// Two quarks and Wilson's action in two scales of 2MN, of the lengths and steps of peers.py; all are accepted.
void time_trajectories(const std::string& file, double kappa, double residual, double beta, int outer, int inner,
                       int number) {
  using gauge_implementation = PeriodicGimplD;
  lattices<WilsonImplD> grids;
  LatticeGaugeFieldD gauge(grids.all);
  FieldMetaData header;
  NerscIO::readConfiguration(gauge, header, file);
  WilsonFermionD M(gauge, *grids.all, *grids.halves, mass_of(kappa));
  ConjugateGradient<LatticeFermionD> cg(residual, 100000);
  TwoFlavourEvenOddPseudoFermionAction<WilsonImplD> quarks(M, cg, cg);
  WilsonGaugeActionD plaquettes(beta);
  ActionLevel<LatticeGaugeFieldD, NoHirep> of_quarks(1), of_plaquettes(inner);
  of_quarks.push_back(&quarks), of_plaquettes.push_back(&plaquettes);
  ActionSet<LatticeGaugeFieldD, NoHirep> action;
  action.push_back(of_quarks), action.push_back(of_plaquettes);
  NoSmearing<gauge_implementation> links;
  MinimumNorm2<gauge_implementation, NoSmearing<gauge_implementation>> motion(
      grids.all, IntegratorParameters(outer, 1.0), action, links);
  GridSerialRNG serial;
  GridParallelRNG parallel(grids.all);
  serial.SeedFixedIntegers({1, 2, 3, 4}), parallel.SeedFixedIntegers({5, 6, 7, 8});
  for (int i = 0; i < number; ++i) {
    const double start = seconds_now();
    motion.refresh(gauge, serial, parallel);
    const double before = motion.S(gauge);
    motion.integrate(gauge);
    const double change = motion.S(gauge) - before;
    std::printf("trajectory,%.6f,%.6g\n", seconds_now() - start, change);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Grid_init(&argc, &argv);
  const auto behind = [&](const std::string& option, int values) {
    for (int i = 1; i + values < argc; ++i)
      if (argv[i] == option) return argv + i + 1;
    return static_cast<char**>(nullptr);
  };
  if (char** const of = behind("--solve", 3)) {
    time_solves(of[0], std::atof(of[1]), std::atof(of[2]));
  } else if (char** const of = behind("--trajectories", 7)) {
    time_trajectories(of[0], std::atof(of[1]), std::atof(of[2]), std::atof(of[3]), std::atoi(of[4]), std::atoi(of[5]),
                      std::atoi(of[6]));
  } else {
    char** const only = behind("--only", 1);
    time_operators<WilsonImplD>("double", only ? only[0] : "");
    time_operators<WilsonImplF>("single", only ? only[0] : "");
  }
  Grid_finalize();
}
