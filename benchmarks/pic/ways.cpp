// One plasma in three ways, on all ranks of a job, one worker each; prints a line of CSV:
//   mpirun -n RANKS bench_ways-SET WAY CASE CELLS_X CELLS_Y PATCHES_A_RANK STEPS BALANCE_EVERY
// WAY: mpi, a bulk-synchronous program whose patches stay; rcb, hsfc, phg: whose patches Zoltan moves by that method.
// beside: the field solver of mpi, with the particles in a collection whose elements move; in each step the fields go
// over and the current comes back, nothing else. whole: all in the collection. CASE: see cases.hpp. A BALANCE_EVERY of
// 0 moves nothing. Times are of the second half of the steps.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "cases.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/collection/lease.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using namespace plaq::bench;

namespace {

outcome by_mpi(const task_at_hand& t, const std::string& way, int ranks, times& clock) {
  const plan p = box_of(t, t.each * ranks);
  blocks mine(t, p);
  for (auto& [number, self] : mine.here) fill(t, p, self);
  outcome out;
  stopwatch watch;
  double processor = 0;
  for (int n = 0; n < t.steps; ++n) {
    if (n == t.steps / 2) MPI_Barrier(MPI_COMM_WORLD), watch = {}, processor = times::of_process();
    mine.move_particles(n, clock);
    mine.advance(n, clock);
    if (t.balance_every && (n + 1) % t.balance_every == 0 && n + 1 < t.steps) {
      const double began = times::now();
      out.last.before = mine.repartition(way);
      out.balancing += times::now() - began;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out.seconds = watch.seconds();
  out.processor = times::of_process() - processor;
  for (const auto& [number, self] : mine.here) out.count(self);
  return out;
}

/// Patch; in the second of two layers the element that hands over its fields, on the rank whose solver has its cells.
struct element {
  std::optional<patch<T>> body;
  void serialize(archive& ar) { ar(body); }
};

/// Patches in so many layers, at first on the rank whose block of MPI they are in.
homes<index3> at_blocks(const plan& p, const plan& blocks, int layers) {
  return homes_by_rule(box<index3>(index3{p.patches[0], p.patches[1], layers}), [=](const index3& at, int) {
    return patch_number(blocks, {at.x * blocks.patches[0] / p.patches[0], at.y * blocks.patches[1] / p.patches[1], 0});
  });
}

/// The steps of both ways that have a collection: what a rank does when they have moved, and what they do in turn.
class in_collection {
  auto around(int layer) const {
    return [this, layer](const index3& at) { return at.z == layer ? neighbours(p_, at).size() : 0; };
  }
  static auto if_in(int layer) {
    return [layer](const index3& at) { return std::size_t(at.z == layer); };
  }
  static index3 in_layer(index3 at, int layer) { return at.z = layer, at; }

 public:
  in_collection(const task_at_hand& t, const comm::communicator& world, times& clock, task::detail::pool_base& pool,
                int layers)
      : t_(t),
        world_(world),
        clock_(clock),
        p_(box_of(t, t.each * world.size())),
        blocks_(box_of(t, world.size())),
        where_(at_blocks(p_, blocks_, layers)),
        elements_(
            "pieces", world, pool, where_,
            [&](const index3& at) {
              element e;
              if (at.z == 0) fill(t_, p_, e.body.emplace(p_, point_of(at)));
              return e;
            },
            t.sleep.empty() ? plaq::load::time : plaq::load::work),
        parcels_(elements_.make_port<parcel<T>>("particles and currents")),
        edges_(elements_.make_port<halo<T>>("edges")),
        mesh_(elements_.make_port<std::vector<T>>("fields")),
        current_(elements_.make_port<std::vector<T>>("current")) {}

  outcome beside() {
    blocks solver(t_, blocks_);
    patch<T>& mine = solver.here.begin()->second;
    fill(t_, blocks_, mine);
    return run([&](int n) {
      std::vector<lease<T>> lent;  // no other code uses the fields while they are handed over
      for (auto* field : {&mine.f.e, &mine.f.b})
        for (auto& component : *field) lent.push_back(from_mpi(component));
      hand_over(n, mine, lent);
      push_all(n, true);
      take_all(n, &mine);
      elements_.wait();
      lent.clear();  // as they were
      solver.advance(n, clock_);
    });
  }
  outcome whole() {
    return run([&](int n) {
      push_all(n, false);
      take_all(n, nullptr);
      elements_.each("complete", edges_.of(around(0)), [this, n](element& e, auto& context) {
        auto received = context.take(edges_);
        clock_(n, fields_, [&] {
          for (const auto& [sender, edge] : received) receive(*e.body, edge);
          complete_fields(p_, *e.body);
          finish_step(p_, *e.body);
          e.body->rows.clear();
        });
      });
    });
  }

 private:
  void hand_over(int n, const patch<T>& from, const std::vector<lease<T>>& lent) {
    elements_.each("fields", [=, this, &from, &lent](element&, auto& context) {
      if (context.index().z == 0) return;
      clock_(n, hand_off, [&] {
        const region r = region_within(from.mesh, {p_, point_of(context.index())}, true);
        std::vector<T> out;
        out.reserve(6 * r.size());
        for (const auto& component : lent)
          for_each_row(from.mesh, r, [&](std::ptrdiff_t at, std::ptrdiff_t length) {
            const auto row = component.in().subspan(std::size_t(at), std::size_t(length));
            out.insert(out.end(), row.begin(), row.end());
          });
        context.send(mesh_, in_layer(context.index(), 0), std::move(out));
      });
    });
  }
  void push_all(int n, bool with_fields) {
    elements_.each("push", mesh_.of([=](const index3& at) { return std::size_t(with_fields && at.z == 0); }),
                   [this, n](element& e, auto& context) {
                     if (!e.body) return;
                     for (const auto& [from, values] : context.take(mesh_))
                       clock_(n, hand_off, [&] {
                         const T* next = values.data();
                         for (auto* field : {&e.body->f.e, &e.body->f.b})
                           for (auto& component : *field)
                             next = put(e.body->mesh, with_guards(e.body->mesh), next, component);
                       });
                     if (!t_.sleep.empty()) context.work(t_.sleep[std::size_t(e.body->number)]);
                     const auto all = neighbours(p_, context.index());
                     clock_(n, particles_, [&] {
                       std::vector<point> shifts;
                       for (const auto& to : all) shifts.push_back(to.shift);
                       auto out = work(t_, p_, *e.body, shifts);
                       for (std::size_t i = 0; i < all.size(); ++i)
                         context.send(parcels_, all[i].at, std::move(out[i]));
                     });
                   });
  }
  /// Receives the parcels; then the current returns to `solver`, or the elements advance the fields.
  void take_all(int n, patch<T>* solver) {
    elements_.each("take", parcels_.of(around(0)), [=, this](element& e, auto& context) {
      if (!e.body) return;
      patch<T>& self = *e.body;
      auto received = context.take(parcels_);
      clock_(n, particles_, [&] {
        for (auto& [sender, message] : received) receive(p_, self, std::move(message));
        count_particles(p_, self);
      });
      if (solver)
        clock_(n, hand_off, [&] {
          ++self.step;
          std::vector<T> out;
          for (const auto& component : self.f.j) append(self.mesh, own_cells(self.mesh), component, out);
          context.send(current_, in_layer(context.index(), 1), std::move(out));
        });
      else
        clock_(n, fields_, [&] {
          advance_fields(p_, self);
          for (const auto& to : neighbours(p_, context.index())) context.send(edges_, to.at, make_halo(self, to.shift));
        });
    });
    if (solver)
      elements_.each("current", current_.of(if_in(1)), [=, this](element&, auto& context) {
        for (const auto& [from, values] : context.take(current_))
          clock_(n, hand_off, [&] {
            const T* next = values.data();
            for (auto& component : solver->f.j)
              next = put(solver->mesh, region_within(solver->mesh, {p_, point_of(context.index())}, false), next,
                         component);
          });
      });
  }
  /// Cells of a patch, with guards or without, counted from a block that it is part of.
  static region region_within(const patch_grid& large, const patch_grid& small, bool guards) {
    region r = guards ? with_guards(small) : own_cells(small);
    for (int d = 0; d < 2; ++d)
      r.low[d] += small.first[d] - large.first[d], r.high[d] += small.first[d] - large.first[d];
    return r;
  }

  outcome run(auto step) {
    outcome out;
    stopwatch watch;
    double processor = 0;
    for (int n = 0; n < t_.steps; ++n) {
      if (n == t_.steps / 2) elements_.wait(), watch = {}, processor = times::of_process();
      step(n);
      if (t_.balance_every && (n + 1) % t_.balance_every == 0 && n + 1 < t_.steps) {
        auto balanced_loads = elements_.balance();
        elements_.each("home", [this](element& e, auto& context) {
          if (!e.body) context.move_to(where_.rank_of(context.index(), world_.size()));
        });
        elements_.wait();
        out.last = balanced_loads.get();
      }
    }
    elements_.wait();
    out.seconds = watch.seconds();
    out.processor = times::of_process() - processor;
    elements_.each_local([&](const index3&, element& e) {
      if (e.body) out.count(*e.body);
    });
    return out;
  }

  const task_at_hand& t_;
  const comm::communicator& world_;
  times& clock_;
  const plan p_, blocks_;
  const homes<index3> where_;
  collection<element, index3> elements_;
  port<element, index3, parcel<T>> parcels_;
  port<element, index3, halo<T>> edges_;
  port<element, index3, std::vector<T>> mesh_, current_;
};

/// Reduces over the ranks.
std::vector<double> over(MPI_Op op, std::vector<double> mine) {
  MPI_Allreduce(MPI_IN_PLACE, mine.data(), int(mine.size()), MPI_DOUBLE, op, MPI_COMM_WORLD);
  return mine;
}

}  // namespace

int main(int count, char** given) {
  if (count != 8) return std::fprintf(stderr, "WAY CASE CELLS_X CELLS_Y PATCHES_A_RANK STEPS BALANCE_EVERY\n"), 2;
  const std::string way = given[1];
  const auto world = comm::world();
  const auto number = [&](int at) { return std::atoi(given[at]); };
  task_at_hand t{given[2], number(3), number(4), number(5), number(6), number(7)};
  if (t.what == "plume") t.sleep = sleep_of_plume(box_of(t, t.each * world.size()), world.size());
  times clock(t.steps);
  outcome mine;
  if (way == "beside" || way == "whole")
    task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
      mine = way == "beside" ? in_collection(t, world, clock, pool, 2).beside()
                             : in_collection(t, world, clock, pool, 1).whole();
    });
  else
    mine = by_mpi(t, way, world.size(), clock);
  // The busiest rank of each step: what a step takes where every rank has a core, and waits for all others after it.
  const auto spent = clock.read();
  std::vector<double> of_step, of_part(3);
  for (int n = t.steps / 2; n < t.steps; ++n) {
    const double* one = spent.data() + 3 * n;
    of_step.push_back(one[0] + one[1] + one[2]);
    for (std::size_t what = 0; what < 3; ++what) of_part[what] += one[what];
  }
  const double half = t.steps - t.steps / 2, ranks = world.size();
  const auto busiest = over(MPI_MAX, of_step);
  const auto sums = over(MPI_SUM, {of_part[0], of_part[1], of_part[2], mine.number, mine.energy, mine.processor});
  const auto most = over(MPI_MAX, {mine.balancing});
  if (world.rank() != 0) return 0;
  const auto ms = [&](double seconds) { return 1e3 * seconds / half; };
  std::printf("%s,%s,%d,%d,%d,%d,%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.0f,%.12g\n", way.c_str(), t.what.c_str(),
              t.nx, t.ny, world.size(), t.each, t.balance_every, ms(mine.seconds), ms(sums[5] / ranks),
              ms(std::accumulate(busiest.begin(), busiest.end(), 0.0)), ms(sums[0] / ranks), ms(sums[1] / ranks),
              ms(sums[2] / ranks), mine.last.before, t.balance_every ? 1e3 * most[0] * t.balance_every / t.steps : 0.0,
              sums[3], sums[4]);
}
