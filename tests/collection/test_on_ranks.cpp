// Over MPI, on any number of ranks; and the pages, as they stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "../comm/ranks.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/collection/lease.hpp"
#include "plaq/collection/ref.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using comm::test::world;

namespace {

// What the examples of the page use.
struct vertex {
  int distance = 1 << 20;
};
struct piece {
  std::vector<double> u;
  void serialize(archive& ar) { ar(u); }
};
double sum(const std::vector<double>& u) { return std::accumulate(u.begin(), u.end(), 0.0); }
/// By its last point from the piece before, by its first from the one after.
void diffuse(piece& p, int at, const std::vector<received<int, double>>& ends) {
  auto before = ends[0], after = ends[1];
  if (before.from != (at + 15) % 16) std::swap(before, after);
  std::vector<double> u{before.value};
  u.insert(u.end(), p.u.begin(), p.u.end());
  u.push_back(after.value);
  for (std::size_t i = 0; i < p.u.size(); ++i) p.u[i] += 0.25 * (u[i] - 2 * u[i + 1] + u[i + 2]);
}

TEST(collection_on_ranks, the_pages_run) {
  for (const auto& backend : task::backends())
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
      const auto& world = ::world();
#include "collection.inc"
#include "porting/charm.inc"
#include "porting/darma.inc"
    });
}

struct number {
  int value;
};

// Ranks leave a collection whose result they have, one after the other, and make the next one.
TEST(collection_on_ranks, destructors_leave_no_message_to_the_next_collection) {
  for (const auto& backend : task::backends())
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
      for (int round = 0; round < 20; ++round) {
        collection<number, int> row("row", ::world(), pool, row_homes(box(8)), [](int i) { return number{i}; });
        EXPECT_EQ(row.reduce("sum", [](const number& n) { return n.value; }, std::plus<>()).get(), 28);
      }
    });
}

// Patches of a mesh in three dimensions, each of which sends more and more particles to all 26 around it, and moves.
struct patch {
  std::vector<long> particles;
  void serialize(archive& ar) { ar(particles); }
};

const box mesh(index3{4, 3, 2}, true);
std::size_t number_of(index3 at) { return std::size_t(at.x + 4 * (at.y + 3 * at.z)); }
patch filled(index3 at) {
  patch out;
  for (int i = 0; i < 100; ++i) out.particles.push_back(i + 100 * long(number_of(at)));
  return out;
}
/// What stays comes last.
std::vector<std::vector<long>> dealt(const patch& from, int n) {
  std::vector<std::vector<long>> out(27);
  for (const long id : from.particles) out[std::size_t(id * 31 + n * 7) % 27].push_back(id);
  return out;
}
constexpr int steps = 30;

/// All particles, by patch and in their order there.
std::vector<long> in_a_loop() {
  std::vector<patch> patches;
  std::vector<index3> where;
  for (std::size_t i = 0; i < mesh.size(); ++i) {
    where.push_back({int(i) % 4, int(i) / 4 % 3, int(i) / 12});
    patches.push_back(filled(where.back()));
  }
  for (int n = 0; n < steps; ++n) {
    std::vector<patch> next(patches.size());
    for (std::size_t i = 0; i < patches.size(); ++i) next[i].particles = dealt(patches[i], n).back();
    for (std::size_t i = 0; i < patches.size(); ++i) {
      const auto out = dealt(patches[i], n);
      const auto around = mesh.neighbours(where[i]);
      for (std::size_t k = 0; k < 26; ++k) {
        auto& to = next[number_of(around[k].at)].particles;
        to.insert(to.end(), out[k].begin(), out[k].end());
      }
    }
    patches = std::move(next);
  }
  std::vector<long> all;
  for (const patch& p : patches) all.insert(all.end(), p.particles.begin(), p.particles.end());
  return all;
}

TEST(collection_on_ranks, particles_wander_and_none_is_lost) {
  const int p = world().size();
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    collection<patch, index3> patches("patches", world(), pool, hilbert_homes(mesh), filled);
    auto exchange = patches.make_port<std::vector<long>>("exchange");
    std::vector<task::future<long>> counts;
    for (int n = 0; n < steps; ++n) {
      patches.each("push", [=](patch& here_now, auto& context) {
        const auto around = mesh.neighbours(context.index());
        auto out = dealt(here_now, n);
        here_now.particles = std::move(out.back());
        for (std::size_t i = 0; i < around.size(); ++i) context.send(exchange, around[i].at, std::move(out[i]));
        if ((context.index().x + context.step()) % 5 == 0) context.move_to((context.rank() + 1) % p);
      });
      patches.each("receive", exchange.of(26), [=](patch& here_now, auto& context) {
        for (auto& [from, came] : context.take(exchange))
          here_now.particles.insert(here_now.particles.end(), came.begin(), came.end());
      });
      if (n % 10 == 0)
        counts.push_back(
            patches.reduce("count", [](const patch& q) { return long(q.particles.size()); }, 0L, std::plus<>()));
    }
    auto all = patches.gather("all", [](const patch& q) { return q.particles; });
    patches.wait();
    for (auto& count : counts) EXPECT_EQ(count.get(), 2400);
    std::vector<long> found;
    for (const auto& [at, particles] : all.get()) found.insert(found.end(), particles.begin(), particles.end());
    if (world().rank() == 0) {
      EXPECT_EQ(found, in_a_loop());
    }
  });
}

}  // namespace
