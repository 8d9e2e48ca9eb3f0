#include "plaq/pic/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/antenna.hpp"
#include "plaq/pic/fields/cylinder.hpp"
#include "plaq/pic/fields/field_boundaries.hpp"
#include "plaq/pic/fields/field_kernels.hpp"
#include "plaq/pic/fields/ring_kernels.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/processes/collisions.hpp"
#include "plaq/pic/processes/emission.hpp"
#include "plaq/pic/processes/felt_fields.hpp"
#include "plaq/pic/processes/field_ionisation.hpp"
#include "plaq/pic/processes/gas.hpp"
#include "plaq/pic/processes/outbox.hpp"
#include "plaq/pic/processes/particle_boundaries.hpp"
#include "plaq/pic/processes/reactions.hpp"
#include "plaq/pic/processes/resampling.hpp"

namespace plaq::pic {

namespace {

template <class T>
motion motion_of(const plan& p, const species& k, const patch<T>& self) {
  return {.scheme = k.scheme,
          .charge_per_mass = k.charge / k.mass,
          .charge = k.source(),
          .walls = self.walls,
          .long_paths = p.electrostatic,
          .at_nodes = p.at_nodes,
          .magnetic = is_magnetic(p, self.f),
          .transverse = is_transverse(p, self.f),
          .current = self.with_current};
}

// Steps of push ------------------------------------------------------------------------------------------------------

/// Particles of a species that are followed along their path: their numbers, and the part of the step that remains.
struct followed {
  std::vector<std::uint32_t> numbers;
  std::vector<double> remaining;
};

/// Particles of a species that leave the patch, and those that a wall or conductor has taken.
struct departures {
  std::vector<std::uint32_t> leaving, removed;
  followed passing;  ///< to the next patch within the step
};

/// Emits particles of all species from the plates; they move for a part of the step.
template <class T>
std::vector<moving_particles<T>> inject(const plan& p, patch<T>& self) {
  std::vector<moving_particles<T>> out;
  for (std::size_t s = 0; s < p.species_list.size(); ++s) out.push_back(emit(p, self, s));
  return out;
}

/// Ionises by the field, changes particles by Coulomb collisions, reactions and gases, merges and splits them; sorts
/// all species by cell.
template <class T>
void collide(const plan& p, patch<T>& self) {
  sort_particles(self);
  if (!p.field_ionisations.empty()) {
    ionise_by_field(p, self);
    self.sorted = false;
    sort_particles(self);
  }
  collide_particles(p, self);
  react(p, self);
  sort_particles(self);
  scatter_in_gases(p, self);
  if (resample(p, self)) {
    self.sorted = false;
    sort_particles(self);
  }
}

/// Advances a species, with its current; records its energy and momentum.
template <class T>
crossing push_species(const plan& p, patch<T>& self, std::size_t s) {
  const species& k = p.species_list[s];
  crossing crossed;
  if (!k.moves) {
    const auto& w = self.species[s].w;
    self.row[record::at(s, record::weight)] = std::accumulate(w.begin(), w.end(), 0.0);
    return crossed;
  }
  try {
    const particle_sums sums = advance(self.mesh, p.order, motion_of(p, k, self), self.f, self.species[s], crossed);
    check(std::isfinite(sums.kinetic), "the energy of its particles is not finite");
    double* row = self.row.data() + record::at(s, 0);
    row[record::weight] = sums.weight, row[record::kinetic] = k.mass * sums.kinetic;
    for (std::size_t c = 0; c < 3; ++c) row[record::momentum + c] = k.mass * sums.momentum[c];
  } catch (const runtime_failure& e) {
    throw runtime_failure("species \"" + k.name + "\": " + e.what());
  }
  return crossed;
}

/// Appends moving particles to a species and to those that are followed.
template <class T>
void join(particles<T>& all, const moving_particles<T>& more, int dimensions, followed& to) {
  for (std::size_t i = 0; i < more.state.size(); ++i) to.numbers.push_back(std::uint32_t(all.size() + i));
  to.remaining.insert(to.remaining.end(), more.remaining.begin(), more.remaining.end());
  all.append(more.state, dimensions);
}

/// Follows particles of species s through cells and walls.
template <class T>
departures boundaries(const plan& p, patch<T>& self, std::size_t s, followed particles) {
  departures out;
  for (std::size_t n = 0; n < particles.numbers.size(); ++n) {
    const auto i = particles.numbers[n];
    double remaining = particles.remaining[n];
    switch (apply_particle_boundaries(p, self, s, i, self.followed_count[s]++, remaining)) {
      case path_end::completed:
        if (shift_of(self.mesh, self.species[s], i) != point{}) out.leaving.push_back(i);
        break;
      case path_end::next_patch:
        out.passing.numbers.push_back(i), out.passing.remaining.push_back(remaining);
        [[fallthrough]];
      case path_end::removed: out.removed.push_back(i);
    }
  }
  return out;
}

/// Adds the particles that sides have emitted to their species; they move from the next step on.
template <class T>
void take_born(const plan& p, patch<T>& self) {
  for (std::size_t s = 0; s < self.born.size(); ++s)
    self.species[s].append(std::exchange(self.born[s], {}), p.dimensions);
}

/// Moves departing particles of species s to the outbox and removes those that are not in the patch any more.
template <class T>
void hand_over(const patch_grid& m, particles<T>& all, std::size_t s, departures gone, outbox<T>& out) {
  for (std::size_t n = 0; n < gone.passing.numbers.size(); ++n)
    out.add(m, all, s, gone.passing.numbers[n], gone.passing.remaining[n]);
  std::ranges::sort(gone.leaving);
  for (const auto i : gone.leaving) out.add(m, all, s, i), gone.removed.push_back(i);
  std::ranges::sort(gone.removed, std::greater<>());
  for (const auto i : gone.removed) all.remove(i, m.dimensions);
}

/// Folds the current behind walls back, and moves that in guard cells to the outbox; in an electrostatic step more
/// current may follow.
template <class T>
void fold_current(const plan& p, patch<T>& self, outbox<T>& out) {
  if (!self.with_current) return;
  for_each_part(self.f, [&](auto& part) { fold_image_current(self.mesh, self.walls, part); });
  if (self.mesh.cylinder) fold_current_at_axis(self.mesh, self.f);
  for (auto& to : out.parcels) {
    const region r = guards_towards(self.mesh, to.shift);
    to.current.reserve(3 * (1 + self.f.modes.size()) * r.size());
    for_each_part(self.f, [&](auto& part) {
      for (auto& component : part.j) {
        append(self.mesh, r, component, to.current);
        if (p.electrostatic)
          for_each_row(self.mesh, r,
                       [&](std::ptrdiff_t at, std::ptrdiff_t n) { std::fill_n(component.begin() + at, n, T(0)); });
      }
    });
  }
}

// Fields of all modes ------------------------------------------------------------------------------------------------

/// Calls use(layers, fields) for the mode 0 and all others.
template <class T, class Use>
void for_each_layered(patch<T>& self, Use use) {
  use(self.layers, self.f);
  for (std::size_t q = 0; q < self.f.modes.size(); ++q) use(self.mode_layers[q], self.f.modes[q]);
}

/// Sets E and B behind walls and the axis, and takes E into the layers.
template <class T>
void mirror_all(patch<T>& self) {
  for_each_part(self.f, [&](auto& part) { mirror_fields(self.mesh, self.walls, part); });
  mirror_at_axis(self.mesh, self.f);
  for_each_layered(self, [&](auto& layers, const fields<T>& part) { layers.update_psi_b(self.mesh, part); });
}

}  // namespace

// Particles ----------------------------------------------------------------------------------------------------------

template <class T>
void sort_particles(patch<T>& self) {
  if (std::exchange(self.sorted, true)) return;
  for (auto& all : self.species) sort_by_cell(self.mesh, all);
}

template <class T>
std::vector<parcel<T>> push(const plan& p, patch<T>& self, const std::vector<point>& shifts, bool current) {
  const patch_grid& m = self.mesh;
  outbox<T> out(shifts);
  self.latest_step = self.step + 1;
  self.row.assign(record::length(p), 0);
  std::ranges::fill(self.arrived_charge, 0.0);
  self.followed_count.assign(p.species_list.size(), 0);
  const auto emitted = inject(p, self);
  const felt_fields<T> felt(p, self, double(self.step) * p.dt);
  for_each_part(self.f, [](auto& part) {
    for (auto& component : part.j) std::ranges::fill(component, T(0));
  });
  collide(p, self);
  self.with_current = current, self.sorted = false;
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    crossing crossed = push_species(p, self, s);
    std::vector<std::uint32_t> absorbed;
    if (!p.electrostatic) {
      absorbed = absorb_in_conductors(p, self, s, crossed.to_follow);
      std::erase_if(crossed.leaving, [&](auto i) { return std::ranges::binary_search(absorbed, i); });
    }
    followed particles{std::move(crossed.to_follow), {}};
    particles.remaining.assign(particles.numbers.size(), 1.0);
    join(self.species[s], emitted[s], m.dimensions, particles);
    departures gone = boundaries(p, self, s, std::move(particles));
    gone.leaving.insert(gone.leaving.end(), crossed.leaving.begin(), crossed.leaving.end());
    gone.removed.insert(gone.removed.end(), absorbed.begin(), absorbed.end());
    hand_over(m, self.species[s], s, std::move(gone), out);
  }
  take_born(p, self);
  fold_current(p, self, out);
  return std::move(out.parcels);
}

template <class T>
std::vector<parcel<T>> continue_push(const plan& p, patch<T>& self, const std::vector<point>& shifts) {
  outbox<T> out(shifts);
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    followed particles;
    join(self.species[s], std::exchange(self.arrived[s], {}), self.mesh.dimensions, particles);
    hand_over(self.mesh, self.species[s], s, boundaries(p, self, s, std::move(particles)), out);
  }
  take_born(p, self);
  fold_current(p, self, out);
  return std::move(out.parcels);
}

template <class T>
void receive(const plan& p, patch<T>& self, parcel<T>&& from_neighbour) {
  const patch_grid& m = self.mesh;
  if (const T* values = from_neighbour.current.data(); !from_neighbour.current.empty())
    for_each_part(self.f, [&](auto& part) {
      for (auto& component : part.j)
        values = add(m, edge_towards(m, opposite(from_neighbour.shift)), values, component);
    });
  if (!from_neighbour.layers.empty()) self.layers.take_after_shift(m, from_neighbour.layers);
  for (auto& one : from_neighbour.particles) {
    for (int d = 0; d < m.dimensions; ++d)
      if (from_neighbour.shift[d] < 0) one.cell[d] += m.cells[d];
    const auto s = std::size_t(one.species);
    const bool continues = one.remaining > 0;
    auto& to = continues ? self.arrived[s].state : self.species[s];
    to.append(one, m.dimensions, p.species_list[s].tracked);
    if (continues) self.arrived[s].remaining.push_back(one.remaining);
  }
}

template <class T>
void count_particles(const plan& p, patch<T>& self) {
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    double* row = self.row.data() + record::at(s, 0);
    for (std::size_t side = 0; side < 6; ++side) row[record::weight] -= row[record::left_weight + side];
    row[record::weight] += row[record::emitted_weight];
  }
  for (std::size_t i = 0; i < self.next_row.size(); ++i) self.row[i] += std::exchange(self.next_row[i], 0.0);
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    const auto absorbed = p.electrostatic ? absorb_in_conductors(p, self, s) : std::vector<std::uint32_t>();
    for (std::size_t n = absorbed.size(); n-- > 0;) self.species[s].remove(absorbed[n], p.dimensions);
    self.row[record::at(s, record::number)] = double(self.species[s].size());
  }
}

// Fields -------------------------------------------------------------------------------------------------------------

/// Advances B by half a step.
template <class T>
void advance_half_b(const plan& p, patch<T>& self) {
  if (self.mesh.cylinder)
    for_each_mode(self.f, [&](fields<T>& part, int, const fields<T>& other, double derivative) {
      advance_ring_b(self.mesh, derivative, other, part, 0.5 * p.dt);
    });
  else
    advance_b(self.mesh, self.f, 0.5 * p.dt);
  for_each_layered(self, [&](const auto& layers, fields<T>& part) { layers.correct_b(self.mesh, part); });
}

template <class T>
void advance_fields(const plan& p, patch<T>& self) {
  if (self.mesh.cylinder) divide_current_by_rings(self.mesh, self.f);
  radiate(p, self.mesh, self.step, self.f);
  advance_half_b(p, self);
  if (self.mesh.cylinder)
    for_each_mode(self.f, [&](fields<T>& part, int, const fields<T>& other, double derivative) {
      advance_ring_e(self.mesh, derivative, other, part, p.dt);
    });
  else
    advance_e(self.mesh, self.f, p.dt);
  for_each_layered(self, [&](auto& layers, fields<T>& part) {
    layers.correct_e(self.mesh, part);
    shield(self.mesh, self.solids, part);
  });
}

template <class T>
halo<T> make_halo(const patch<T>& self, const point& shift) {
  halo<T> out{shift};
  const region r = edge_towards(self.mesh, shift);
  out.values.reserve(6 * (1 + self.f.modes.size()) * r.size());
  for_each_part(self.f, [&](const auto& part) {
    for (const auto* field : {&part.e, &part.b})
      for (const auto& component : *field) append(self.mesh, r, component, out.values);
  });
  return out;
}

template <class T>
void receive(patch<T>& self, const halo<T>& from_neighbour) {
  const region r = guards_towards(self.mesh, opposite(from_neighbour.shift));
  const T* values = from_neighbour.values.data();
  for_each_part(self.f, [&](auto& part) {
    for (auto* field : {&part.e, &part.b})
      for (auto& component : *field) values = put(self.mesh, r, values, component);
  });
}

template <class T>
void complete_fields(const plan& p, patch<T>& self) {
  mirror_all(self);
  advance_half_b(p, self);
  mirror_at_axis(self.mesh, self.f);
}

template <class T>
void set_electric_field(const plan& p, patch<T>& self, const std::vector<double>& phi) {
  const patch_grid& m = self.mesh;
  if (p.electrostatic) self.f.phi.assign(phi.begin(), phi.end());
  for (int d = 0; d < m.dimensions; ++d) {
    region r = with_guards(m);
    --r.high[d];
    for (int t = 0; t < m.dimensions; ++t)  // cells behind a wall are images
      if (!p.periodic(t))
        r.low[t] = std::max(r.low[t], -m.first[t]), r.high[t] = std::min(r.high[t], p.cells[t] + (t != d) - m.first[t]);
    for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        self.f.e[std::size_t(d)][std::size_t(i)] =
            T((phi[std::size_t(i)] - phi[std::size_t(i + m.stride[d])]) / m.spacing[d]);
    });
  }
  for (const auto& cut : self.solids.cuts) self.f.e[std::size_t(cut.d)][cut.node] /= T(cut.part);
  for_each_part(self.f, [&](auto& part) { mirror_fields(m, self.walls, part); });
  mirror_at_axis(m, self.f);
}

template <class T>
void finish_step(const plan& p, patch<T>& self) {
  ++self.step;
  self.row[record::time] = double(self.step) * p.dt;
  const region own = own_cells(self.mesh);
  std::ranges::copy(self.mesh.cylinder ? ring_energies(self.mesh, own, self.f) : field_energies(self.mesh, own, self.f),
                    self.row.begin() + record::energies);
  const auto within = energies_within(self.mesh, self.solids, self.f);
  for (std::size_t d = 0; d < 3; ++d) self.row[record::energies + d] -= within[d];
  self.row[record::gauss(p)] = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t k = 0; k < self.circuits.size() && self.number == 0; ++k) {
    const circuit_state& c = self.circuits[k];
    std::ranges::copy(std::array{c.potential, c.charge, c.current}, self.row.begin() + long(record::circuit(p, k)));
  }
  self.rows.insert(self.rows.end(), self.row.begin(), self.row.end());
}

// Start --------------------------------------------------------------------------------------------------------------

template <class T>
void initialise_fields(patch<T>& self) {
  close_b(self.mesh, self.walls, self.f, -self.mesh.guard[0]);
  mirror_all(self);
}

template <class T>
void initialise_momenta(const plan& p, patch<T>& self) {
  {
    const felt_fields<T> felt(p, self, 0);
    for (std::size_t s = 0; s < p.species_list.size(); ++s)
      if (p.species_list[s].moves)
        kick(self.mesh, p.order, motion_of(p, p.species_list[s], self), self.f, self.species[s], -0.5 * p.dt);
  }
  store_background(p, self);
  std::ranges::fill(self.next_row, 0.0);
}

#define PLAQ_PIC_FOR(T)                                                                             \
  template void sort_particles(patch<T>&);                                                          \
  template std::vector<parcel<T>> push(const plan&, patch<T>&, const std::vector<point>&, bool);    \
  template std::vector<parcel<T>> continue_push(const plan&, patch<T>&, const std::vector<point>&); \
  template void receive(const plan&, patch<T>&, parcel<T>&&);                                       \
  template void count_particles(const plan&, patch<T>&);                                            \
  template void advance_fields(const plan&, patch<T>&);                                             \
  template void complete_fields(const plan&, patch<T>&);                                            \
  template void set_electric_field(const plan&, patch<T>&, const std::vector<double>&);             \
  template halo<T> make_halo(const patch<T>&, const point&);                                        \
  template void receive(patch<T>&, const halo<T>&);                                                 \
  template void finish_step(const plan&, patch<T>&);                                                \
  template void initialise_fields(patch<T>&);                                                       \
  template void initialise_momenta(const plan&, patch<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
