#include "plaq/pic/patch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/pic/absorbing.hpp"
#include "plaq/pic/antenna.hpp"
#include "plaq/pic/collisions.hpp"
#include "plaq/pic/ionisation.hpp"
#include "plaq/pic/travel.hpp"

namespace plaq::pic {

namespace {

motion motion_of(const plan& p, const species& k, const sides& walls) {
  return {.by = k.by, .charge_per_mass = k.charge / k.mass, .charge = k.charge, .walls = walls, .far = p.electrostatic};
}

/// Where it is now: -1, 0 or 1 in each dimension.
template <class T>
point shift_of(const block& m, const particles<T>& p, std::size_t i) {
  point s{};
  for (int d = 0; d < m.dimensions; ++d) s[d] = p.cell[d][i] < 0 ? -1 : p.cell[d][i] >= m.cells[d] ? 1 : 0;
  return s;
}

/// The parcels of a patch for its neighbours.
template <class T>
class outbox {
 public:
  outbox(const plan& p, const std::vector<point>& shifts) {
    which_.fill(-1);
    for (const point& s : shifts) {
      which_[code(s)] = int(parcels.size());
      parcels.push_back({.shift = s,
                         .kinds = std::vector<particles<T>>(p.kinds.size()),
                         .passing = std::vector<under_way<T>>(p.kinds.size())});
    }
  }

  /// Particle i of species s, which has come to another patch.
  void add(const block& m, const particles<T>& all, std::size_t s, std::size_t i) {
    put_in(m, towards(m, all, i).kinds[s], all, i);
  }
  /// One that goes on there.
  void add(const block& m, const particles<T>& all, std::size_t s, std::size_t i, double part) {
    auto& theirs = towards(m, all, i).passing[s];
    put_in(m, theirs.who, all, i);
    theirs.part.push_back(part);
  }

  std::vector<parcel<T>> parcels;

 private:
  static std::size_t code(const point& s) { return std::size_t(s[0] + 1 + 3 * (s[1] + 1) + 9 * (s[2] + 1)); }
  parcel<T>& towards(const block& m, const particles<T>& all, std::size_t i) {
    const int to = which_[code(shift_of(m, all, i))];
    check(to >= 0, "a particle has left the box and met no wall");
    return parcels[std::size_t(to)];
  }
  static void put_in(const block& m, particles<T>& theirs, const particles<T>& all, std::size_t i) {
    theirs.append(all, i, m.dimensions);
    for (int d = 0; d < m.dimensions; ++d)
      if (theirs.cell[d].back() >= m.cells[d]) theirs.cell[d].back() -= m.cells[d];
  }

  std::array<int, 27> which_;
};

/// Particles of species s within a step: those with the numbers `who` are followed, each for what `part` says of the
/// step. Those that are in another patch then, and `leaving`, go there; what is no longer here is taken away.
template <class T>
void follow(const plan& p, patch<T>& me, std::size_t s, const std::vector<std::uint32_t>& who, std::vector<double> part,
            std::vector<std::uint32_t> leaving, outbox<T>& out) {
  const block& m = me.mesh;
  particles<T>& all = me.kinds[s];
  std::vector<std::uint32_t> gone;  // by a wall, to a conductor or a neighbour
  for (std::size_t n = 0; n < who.size(); ++n) {
    const auto i = who[n];
    const way_end end = travel(p, me, s, i, me.travelled[s]++, part[n]);
    if (end == way_end::passes) out.add(m, all, s, i, part[n]);
    if (end != way_end::here)
      gone.push_back(i);
    else if (shift_of(m, all, i) != point{})
      leaving.push_back(i);
  }
  std::ranges::sort(leaving);
  for (const auto i : leaving) out.add(m, all, s, i), gone.push_back(i);
  std::ranges::sort(gone, std::greater<>());
  for (const auto i : gone) all.remove(i, m.dimensions);
}

/// Particles that are `more` join the species; their numbers are added to `who`, and what each has of the step.
template <class T>
void join(particles<T>& all, const under_way<T>& more, int dimensions, std::vector<std::uint32_t>& who,
          std::vector<double>& part) {
  for (std::size_t i = 0; i < more.who.size(); ++i) who.push_back(std::uint32_t(all.size() + i));
  part.insert(part.end(), more.part.begin(), more.part.end());
  all.append(more.who, dimensions);
}

/// The current in guard cells goes with the parcels; in an electrostatic step more may follow.
template <class T>
void add_currents(const plan& p, patch<T>& me, outbox<T>& out) {
  fold_current(me.mesh, me.walls, me.f);
  for (auto& one : out.parcels) {
    const region r = guards_towards(me.mesh, one.shift);
    for (auto& component : me.f.j) {
      append(me.mesh, r, component, one.current);
      if (p.electrostatic)
        each_row(me.mesh, r,
                 [&](std::ptrdiff_t at, std::ptrdiff_t n) { std::fill_n(component.begin() + at, n, T(0)); });
    }
  }
}

/// Where Gauss's law holds in so many words: own nodes that are neither on a wall nor in an absorbing layer.
region looked_at(const plan& p, const block& m, const sides& walls) {
  region r = own(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (walls[d][0]) r.low[d] = 1;
    if (p.borders[d][0] == border::absorbing) r.low[d] = std::max(r.low[d], p.layer + 1 - m.first[d]);
    if (p.borders[d][1] == border::absorbing) r.high[d] = std::min(r.high[d], p.cells[d] - p.layer - m.first[d]);
    r.low[d] = std::min(r.low[d], r.high[d] = std::max(r.high[d], 0));
  }
  return r;
}

/// div E - rho there; on conductors in the box nobody knows the charge.
template <class T>
std::vector<T> residual_of(const plan& p, const patch<T>& me) {
  const region r = looked_at(p, me.mesh, me.walls);
  auto out = gauss_residual(me.mesh, r, me.f);
  auto next = out.begin();
  if (!me.solids.nodes.empty())
    each_row(me.mesh, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i, ++next)
        if (me.solids.nodes[std::size_t(i)]) *next = 0;
    });
  return out;
}

}  // namespace

template <class T>
patch<T>::patch(const plan& p, const point& at)
    : number(at[0] + p.patches[0] * (at[1] + p.patches[1] * at[2])),
      mesh(p, at),
      walls(walls_of(p, at)),
      f(mesh),
      kinds(p.kinds.size()),
      tiles(tiles_of(p, mesh)),
      plates(p.emitters.empty() ? 0 : mesh.size()),
      layers(p, mesh),
      solids(p, mesh),
      coming(p.kinds.size()),
      travelled(p.kinds.size()),
      next(record::length(p)) {}

template <class T>
std::size_t patch<T>::size() const {
  std::size_t n = 0;
  for (const auto& k : kinds) n += k.size();
  return n;
}

template <class T>
std::uint64_t patch<T>::new_id(const plan& p) {
  const auto patches = std::uint64_t(p.patches[0]) * std::uint64_t(p.patches[1]) * std::uint64_t(p.patches[2]);
  return born++ * patches + std::uint64_t(number);
}

template <class T>
std::size_t patch<T>::waiting() const {
  std::size_t n = 0;
  for (const auto& k : coming) n += k.part.size();
  return n;
}

template <class T>
std::vector<parcel<T>> push(const plan& p, patch<T>& me, const std::vector<point>& shifts) {
  const block& m = me.mesh;
  outbox<T> out(p, shifts);
  me.in = me.step + 1;
  me.now.assign(record::length(p), 0);
  me.travelled.assign(p.kinds.size(), 0);
  std::vector<under_way<T>> begin;
  for (std::size_t s = 0; s < p.kinds.size(); ++s) begin.push_back(emit(p, me, s));
  collide(p, me);
  ionise(p, me);
  for (auto& component : me.f.j) std::ranges::fill(component, T(0));
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    particles<T>& all = me.kinds[s];
    sort_by_cell(m, all);  // here, where they stay in the cache for what follows
    set_apart apart;
    try {
      const sums what = advance(m, p.order, motion_of(p, p.kinds[s], me.walls), me.f, all, apart);
      check(std::isfinite(what.kinetic), "the energy of its particles is no number");
      double* row = me.now.data() + record::at(s, 0);
      row[record::weight] = what.weight, row[record::kinetic] = p.kinds[s].mass * what.kinetic;
      for (std::size_t c = 0; c < 3; ++c) row[record::momentum + c] = p.kinds[s].mass * what.momentum[c];
    } catch (const runtime_failure& e) {
      throw runtime_failure("species \"" + p.kinds[s].name + "\": " + e.what());
    }
    std::vector<double> part(apart.to_follow.size(), 1.0);
    join(all, begin[s], m.dimensions, apart.to_follow, part);
    follow(p, me, s, apart.to_follow, std::move(part), std::move(apart.leaving), out);
  }
  add_currents(p, me, out);
  return std::move(out.parcels);
}

template <class T>
std::vector<parcel<T>> go_on(const plan& p, patch<T>& me, const std::vector<point>& shifts) {
  outbox<T> out(p, shifts);
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    std::vector<std::uint32_t> who;
    std::vector<double> part;
    join(me.kinds[s], std::exchange(me.coming[s], {}), me.mesh.dimensions, who, part);
    follow(p, me, s, who, std::move(part), {}, out);
  }
  add_currents(p, me, out);
  return std::move(out.parcels);
}

template <class T>
void take(const plan& p, patch<T>& me, parcel<T>&& came) {
  const block& m = me.mesh;
  if (const T* from = came.current.data(); !came.current.empty())
    for (auto& component : me.f.j) from = add(m, edge_towards(m, back(came.shift)), from, component);
  const auto in_mine = [&](particles<T>& theirs) -> const particles<T>& {
    for (int d = 0; d < m.dimensions; ++d)
      if (came.shift[d] < 0)
        for (auto& cell : theirs.cell[d]) cell += m.cells[d];
    return theirs;
  };
  for (std::size_t s = 0; s < p.kinds.size(); ++s) me.kinds[s].append(in_mine(came.kinds[s]), m.dimensions);
  for (std::size_t s = 0; s < came.passing.size(); ++s) {
    auto& [who, part] = came.passing[s];
    me.coming[s].who.append(in_mine(who), m.dimensions);
    me.coming[s].part.insert(me.coming[s].part.end(), part.begin(), part.end());
  }
}

template <class T>
void count(const plan& p, patch<T>& me) {
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    double* row = me.now.data() + record::at(s, 0);
    for (std::size_t side = 0; side < 6; ++side) row[record::weight] -= row[record::left_weight + side];
    row[record::weight] += row[record::emitted_weight];
  }
  for (std::size_t i = 0; i < me.next.size(); ++i) me.now[i] += std::exchange(me.next[i], 0.0);
  absorb(p, me);
  for (std::size_t s = 0; s < p.kinds.size(); ++s) me.now[record::at(s, record::number)] = double(me.kinds[s].size());
}

template <class T>
void advance_fields(const plan& p, patch<T>& me) {
  const double half = 0.5 * p.dt;
  radiate(p, me.mesh, me.step, me.f);
  advance_b(me.mesh, me.f, half);
  me.layers.advance_b(me.mesh, me.f);
  advance_e(me.mesh, me.f, p.dt);
  me.layers.advance_e(me.mesh, me.f);
  shield(me);
}

template <class T>
halo<T> edge_for(const patch<T>& me, const point& shift) {
  halo<T> out{shift};
  const region r = edge_towards(me.mesh, shift);
  out.values.reserve(6 * r.size());
  for (const auto* field : {&me.f.e, &me.f.b})
    for (const auto& component : *field) append(me.mesh, r, component, out.values);
  return out;
}

template <class T>
void take(patch<T>& me, const halo<T>& came) {
  const region r = guards_towards(me.mesh, back(came.shift));
  const T* from = came.values.data();
  for (auto* field : {&me.f.e, &me.f.b})
    for (auto& component : *field) from = put(me.mesh, r, from, component);
}

template <class T>
void complete_fields(const plan& p, patch<T>& me) {
  mirror_fields(me.mesh, me.walls, me.f);
  me.layers.renew_b(me.mesh, me.f);
  advance_b(me.mesh, me.f, 0.5 * p.dt);
  me.layers.advance_b(me.mesh, me.f);
}

template <class T>
void set_electric(const plan& p, patch<T>& me, const std::vector<double>& phi) {
  const block& m = me.mesh;
  if (p.electrostatic) me.f.phi.assign(phi.begin(), phi.end());
  for (std::size_t c = 0; c < 3; ++c)
    if (!me.outside[c].empty()) std::ranges::fill(me.f.e[c], T(0));
  for (int d = 0; d < m.dimensions; ++d) {
    region r = with_guards(m);
    --r.high[d];
    for (int t = 0; t < m.dimensions; ++t)  // what is behind a wall is an image
      if (!p.periodic(t))
        r.low[t] = std::max(r.low[t], -m.first[t]), r.high[t] = std::min(r.high[t], p.cells[t] + (t != d) - m.first[t]);
    each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        me.f.e[std::size_t(d)][std::size_t(i)] =
            T((phi[std::size_t(i)] - phi[std::size_t(i + m.stride[d])]) / m.spacing[d]);
    });
  }
  mirror_fields(m, me.walls, me.f);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < me.outside[c].size(); ++i) me.f.e[c][i] += me.outside[c][i];
}

template <class T>
void complete(const plan& p, patch<T>& me) {
  ++me.step;
  me.now[record::time] = double(me.step) * p.dt;
  std::ranges::copy(field_energies(me.mesh, own(me.mesh), me.f), me.now.begin() + record::energies);
  me.now[record::gauss(p)] = std::numeric_limits<double>::quiet_NaN();
  me.done.insert(me.done.end(), me.now.begin(), me.now.end());
}

template <class T>
void begin_charge(const plan& p, patch<T>& me) {
  if (me.plates.empty())
    std::ranges::fill(me.f.rho, T(0));
  else
    me.f.rho = me.plates;
  for (std::size_t s = 0; s < p.kinds.size(); ++s)
    deposit_charge(me.mesh, p.order, me.f, me.kinds[s], p.kinds[s].charge);
  fold_charge(me.mesh, me.walls, me.f);
}

template <class T>
halo<T> charge_for(const patch<T>& me, const point& shift) {
  halo<T> out{shift};
  append(me.mesh, guards_towards(me.mesh, shift), me.f.rho, out.values);
  return out;
}

template <class T>
void take_charge(patch<T>& me, const halo<T>& came) {
  add(me.mesh, edge_towards(me.mesh, back(came.shift)), came.values.data(), me.f.rho);
}

template <class T>
void look_at_gauss(const plan& p, patch<T>& me) {
  const auto residual = residual_of(p, me);
  check(residual.size() == me.background.size(), "Gauss's law is looked at before the start");
  double most = 0;
  for (std::size_t i = 0; i < residual.size(); ++i)
    most = std::max(most, double(std::abs(residual[i] - me.background[i])));
  me.done[me.done.size() - record::length(p) + record::gauss(p)] = most;
}

template <class T>
void begin_fields(patch<T>& me) {
  close_b(me.mesh, me.walls, me.f, -me.mesh.guard[0]);
  mirror_fields(me.mesh, me.walls, me.f);
  me.layers.renew_b(me.mesh, me.f);
}

template <class T>
void begin(const plan& p, patch<T>& me) {
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    kick(me.mesh, p.order, motion_of(p, p.kinds[s], me.walls), me.f, me.kinds[s], -0.5 * p.dt);
  }
  me.background = residual_of(p, me);
  std::ranges::fill(me.next, 0.0);
}

#define PLAQ_PIC_FOR(T)                                                                     \
  template struct patch<T>;                                                                 \
  template std::vector<parcel<T>> push(const plan&, patch<T>&, const std::vector<point>&);  \
  template std::vector<parcel<T>> go_on(const plan&, patch<T>&, const std::vector<point>&); \
  template void take(const plan&, patch<T>&, parcel<T>&&);                                  \
  template void count(const plan&, patch<T>&);                                              \
  template void advance_fields(const plan&, patch<T>&);                                     \
  template void complete_fields(const plan&, patch<T>&);                                    \
  template void set_electric(const plan&, patch<T>&, const std::vector<double>&);           \
  template halo<T> edge_for(const patch<T>&, const point&);                                 \
  template void take(patch<T>&, const halo<T>&);                                            \
  template void complete(const plan&, patch<T>&);                                           \
  template void begin_charge(const plan&, patch<T>&);                                       \
  template halo<T> charge_for(const patch<T>&, const point&);                               \
  template void take_charge(patch<T>&, const halo<T>&);                                     \
  template void look_at_gauss(const plan&, patch<T>&);                                      \
  template void begin_fields(patch<T>&);                                                    \
  template void begin(const plan&, patch<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
