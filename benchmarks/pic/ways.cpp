// One plasma in three ways, on all ranks of a job, one worker each:
//   mpirun -n RANKS bench_ways-SET WAY CASE PATCHES_A_RANK STEPS BALANCE_EVERY      prints a line of CSV
// mpi: a bulk-synchronous program, a block of the mesh for each rank, which stays there. beside: that program's
// field solver, with the particles in a collection whose elements move; in each step the fields go over and the
// current comes back, nothing else. whole: all in the collection. CASE: uniform, a warm plasma everywhere; plate,
// electrons from the left side of an empty box. A BALANCE_EVERY of 0 moves nothing. Times are of the second half
// of the steps.
#include <mpi.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/collection/lease.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/processes/loading.hpp"
#include "plaq/pic/step.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using namespace plaq::pic;

namespace {

using T = double;

// What is simulated
// -------------------------------------------------------------------------------------------------

plan box_of(const std::string& what, int patches) {
  plan p;
  p.dimensions = 2;
  p.cells = {128, 128, 1}, p.lengths = {12.8, 12.8, 1};
  for (int d = 0; patches > 1; patches /= 2, d = 1 - d) p.patches[d] *= 2;
  p.dt = 0.95 * p.courant();
  p.species_list = {{"electrons", -1, 1, pusher::boris}};
  if (what == "uniform") return p;
  for (int d = 0; d < 2; ++d)
    p.field_boundaries[d] = {field_boundary::conducting, field_boundary::conducting},
    p.particle_boundaries[d] = {particle_boundary::absorbed, particle_boundary::absorbed};
  emitter plate{.centre = {0, 6.4, 0}, .half_width = 2, .weight = 8e-8, .temperature = 0.01, .drift = 0.5};
  plate.set_flux({1e-4 / p.dt});  // 5000 in a step
  p.emitters = {plate};
  return p;
}

void fill(const std::string& what, const plan& p, patch<T>& self) {
  if (what == "uniform") {
    constexpr int per_cell = 64;
    const auto x = make_positions(p, self.mesh, 0, per_cell, false);
    const std::size_t n = x.size() / 2;
    const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
    pic::load(p, self, 0, {x, w, drift, thermal, false});
  }
  initialise_fields(self);
  initialise_momenta(p, self);
}

// What it takes
// -----------------------------------------------------------------------------------------------------

enum part { particles_, fields_, hand_off };

/// Processor time of this rank's parts of each step.
class times {
 public:
  explicit times(int steps) : of_(std::size_t(3 * steps)) {}
  /// Calls f and adds its time; returns its value.
  auto operator()(int step, part what, auto f) {
    struct timing {
      std::atomic<double>& to;
      double begin = now();
      ~timing() { to += now() - begin; }
    } const until_it_returns{of_[std::size_t(3 * step + what)]};
    return f();
  }
  std::vector<double> read() const { return {of_.begin(), of_.end()}; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  }
  std::vector<std::atomic<double>> of_;
};

struct outcome {
  double seconds = 0;             ///< of the second half
  double number = 0, energy = 0;  ///< of this rank's particles in the end
  balance_result first = {}, last = {};
  void count(const patch<T>& self) {
    number += double(self.size()), energy += self.row[record::at(0, record::kinetic)];
  }
};

struct task_at_hand {
  std::string what;
  const comm::communicator& world;
  int each, steps, balance_every;
  times& clock;
};

// A block of the mesh for each rank, by MPI
// -------------------------------------------------------------------------

class block_of_mpi {
 public:
  block_of_mpi(const plan& p, int rank)
      : p_(p), self(p, point_of(patch_of(p, rank))), around_(neighbours(p, patch_of(p, rank))) {
    for (const auto& to : around_) shifts_.push_back(to.shift);
    self.row.assign(record::length(p), 0);
  }

  void move_particles(int step, times& clock) {
    auto received = swapped(clock(step, particles_, [&] { return push(p_, self, shifts_); }));
    clock(step, particles_, [&] {
      for (auto& message : received) receive(p_, self, std::move(message));
      count_particles(p_, self);
    });
  }
  void advance(int step, times& clock) {
    auto received = swapped(clock(step, fields_, [&] {
      advance_fields(p_, self);
      std::vector<halo<T>> edges;
      for (const point& shift : shifts_) edges.push_back(make_halo(self, shift));
      return edges;
    }));
    clock(step, fields_, [&] {
      for (const auto& message : received) receive(self, message);
      complete_fields(p_, self);
      finish_step(p_, self);
      self.rows.clear();
    });
  }

 private:
  const plan p_;

 public:
  patch<T> self;

 private:
  /// Sends a message to each neighbour; returns those of the neighbours.
  template <class V>
  std::vector<V> swapped(std::vector<V> out) const {
    const auto tag = [](const point& s) { return s[0] + 1 + 3 * (s[1] + 1); };
    std::vector<std::vector<std::byte>> going(out.size());
    std::vector<MPI_Request> requests(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      archive::pack(out[i], going[i]);
      MPI_Isend(going[i].data(), int(going[i].size()), MPI_BYTE, patch_number(p_, around_[i].at), tag(shifts_[i]),
                MPI_COMM_WORLD, &requests[i]);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      MPI_Message which;
      MPI_Status status;
      int size = 0;
      MPI_Mprobe(patch_number(p_, around_[i].at), tag(opposite(shifts_[i])), MPI_COMM_WORLD, &which, &status);
      MPI_Get_count(&status, MPI_BYTE, &size);
      std::vector<std::byte> bytes(static_cast<std::size_t>(size));
      MPI_Mrecv(bytes.data(), size, MPI_BYTE, &which, &status);
      out[i] = elements::unpack<V>(bytes);
    }
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return out;
  }

  std::vector<neighbour> around_;
  std::vector<point> shifts_;
};

outcome by_mpi(const task_at_hand& t) {
  block_of_mpi mine(box_of(t.what, t.world.size()), t.world.rank());
  fill(t.what, box_of(t.what, t.world.size()), mine.self);
  outcome out;
  stopwatch watch;
  for (int n = 0; n < t.steps; ++n) {
    if (n == t.steps / 2) MPI_Barrier(MPI_COMM_WORLD), watch = {};
    mine.move_particles(n, t.clock);
    mine.advance(n, t.clock);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out.seconds = watch.seconds();
  out.count(mine.self);
  return out;
}

// In a collection
// ---------------------------------------------------------------------------------------------------

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
  in_collection(const task_at_hand& t, task::detail::pool_base& pool, int layers)
      : t_(t),
        p_(box_of(t.what, t.each * t.world.size())),
        blocks_(box_of(t.what, t.world.size())),
        where_(at_blocks(p_, blocks_, layers)),
        elements_("pieces", t.world, pool, where_,
                  [&](const index3& at) {
                    element e;
                    if (at.z == 0) fill(t_.what, p_, e.body.emplace(p_, point_of(at)));
                    return e;
                  }),
        parcels_(elements_.make_port<parcel<T>>("particles and currents")),
        edges_(elements_.make_port<halo<T>>("edges")),
        mesh_(elements_.make_port<std::vector<T>>("fields")),
        current_(elements_.make_port<std::vector<T>>("current")) {}

  outcome beside() {
    block_of_mpi mine(blocks_, t_.world.rank());
    return run([&](int n) {
      std::vector<lease<T>> lent;  // no other code uses the fields while they are handed over
      for (auto* field : {&mine.self.f.e, &mine.self.f.b})
        for (auto& component : *field) lent.push_back(from_mpi(component));
      hand_over(n, mine.self, lent);
      push_all(n, true);
      take_all(n, &mine.self);
      elements_.wait();
      lent.clear();  // as they were
      mine.advance(n, t_.clock);
    });
  }
  outcome whole() {
    return run([&](int n) {
      push_all(n, false);
      take_all(n, nullptr);
      elements_.each("complete", edges_.of(around(0)), [this, n](element& e, auto& context) {
        auto received = context.take(edges_);
        t_.clock(n, fields_, [&] {
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
      t_.clock(n, hand_off, [&] {
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
                       t_.clock(n, hand_off, [&] {
                         const T* next = values.data();
                         for (auto* field : {&e.body->f.e, &e.body->f.b})
                           for (auto& component : *field)
                             next = put(e.body->mesh, with_guards(e.body->mesh), next, component);
                       });
                     const auto all = neighbours(p_, context.index());
                     t_.clock(n, particles_, [&] {
                       std::vector<point> shifts;
                       for (const auto& to : all) shifts.push_back(to.shift);
                       auto out = push(p_, *e.body, shifts);
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
      t_.clock(n, particles_, [&] {
        for (auto& [sender, message] : received) receive(p_, self, std::move(message));
        count_particles(p_, self);
      });
      if (solver)
        t_.clock(n, hand_off, [&] {
          ++self.step;
          std::vector<T> out;
          for (const auto& component : self.f.j) append(self.mesh, own_cells(self.mesh), component, out);
          context.send(current_, in_layer(context.index(), 1), std::move(out));
        });
      else
        t_.clock(n, fields_, [&] {
          advance_fields(p_, self);
          for (const auto& to : neighbours(p_, context.index())) context.send(edges_, to.at, make_halo(self, to.shift));
        });
    });
    if (solver)
      elements_.each("current", current_.of(if_in(1)), [=, this](element&, auto& context) {
        for (const auto& [from, values] : context.take(current_))
          t_.clock(n, hand_off, [&] {
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
    bool moved = false;
    for (int n = 0; n < t_.steps; ++n) {
      if (n == t_.steps / 2) elements_.wait(), watch = {};
      step(n);
      if (t_.balance_every && (n + 1) % t_.balance_every == 0 && n + 1 < t_.steps) {
        auto balanced_loads = elements_.balance();
        elements_.each("home", [this](element& e, auto& context) {
          if (!e.body) context.move_to(where_.rank_of(context.index(), t_.world.size()));
        });
        elements_.wait();
        out.last = balanced_loads.get();
        if (!std::exchange(moved, true)) out.first = out.last;
      }
    }
    elements_.wait();
    out.seconds = watch.seconds();
    elements_.each_local([&](const index3&, element& e) {
      if (e.body) out.count(*e.body);
    });
    return out;
  }

  const task_at_hand& t_;
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
  if (count != 6) return std::fprintf(stderr, "WAY CASE PATCHES_A_RANK STEPS BALANCE_EVERY\n"), 2;
  const std::string way = given[1], what = given[2];
  const auto world = comm::world();
  const int each = std::atoi(given[3]), steps = std::atoi(given[4]);
  times clock(steps);
  const task_at_hand t{what, world, each, steps, std::atoi(given[5]), clock};
  outcome mine;
  if (way == "mpi")
    mine = by_mpi(t);
  else
    task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
      mine = way == "beside" ? in_collection(t, pool, 2).beside() : in_collection(t, pool, 1).whole();
    });
  // The busiest rank of each step: what a step takes where every rank has a core, and waits for all others after
  // it.
  const auto spent = clock.read();
  std::vector<double> of_step, of_part(3);
  for (int n = steps / 2; n < steps; ++n) {
    const double* one = spent.data() + 3 * n;
    of_step.push_back(one[0] + one[1] + one[2]);
    for (std::size_t what_for = 0; what_for < 3; ++what_for) of_part[what_for] += one[what_for];
  }
  const double half = steps - steps / 2, ranks = world.size();
  const auto busiest = over(MPI_MAX, of_step);
  const auto sums = over(MPI_SUM, {of_part[0], of_part[1], of_part[2], mine.number, mine.energy});
  if (world.rank() != 0) return 0;
  const auto ms = [&](double seconds) { return 1e3 * seconds / half; };
  std::printf("%s,%s,%d,%d,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.0f,%.12g\n", way.c_str(), what.c_str(),
              world.size(), each, given[5], ms(mine.seconds), ms(std::accumulate(busiest.begin(), busiest.end(), 0.0)),
              ms(sums[0] / ranks), ms(sums[1] / ranks), ms(sums[2] / ranks), mine.last.before, mine.last.expected,
              mine.last.floor, sums[3], sums[4]);
}
