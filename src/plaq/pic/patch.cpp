#include "plaq/pic/patch.hpp"

namespace plaq::pic {

template <class T>
patch<T>::patch(const plan& p, const point& at)
    : number(at[0] + p.patches[0] * (at[1] + p.patches[1] * at[2])),
      mesh(p, at),
      walls(box_sides(p, at)),
      f(mesh),
      species(p.species_list.size()),
      tiles(tiles_in(p, mesh)),
      plate_charge(p.emitters.empty() && p.permittivity.empty() ? 0 : mesh.size()),
      layers(p, mesh),
      mode_layers(f.modes.size(), layers),
      solids(p, mesh),
      circuits(p.circuits.size()),
      unit_potentials(p.circuits.size()),
      arrived_charge(p.electrode_potentials().size()),
      wall_charge(std::size_t(2 * p.dimensions)),
      arrived(p.species_list.size()),
      followed_count(p.species_list.size()),
      born(p.species_list.size()),
      next_row(record::length(p)) {}

template <class T>
std::size_t patch<T>::size() const {
  std::size_t n = 0;
  for (const auto& s : species) n += s.size();
  return n;
}

template <class T>
std::size_t patch<T>::unfinished() const {
  std::size_t n = 0;
  for (const auto& s : arrived) n += s.remaining.size();
  return n;
}

template <class T>
std::uint64_t patch<T>::new_id(const plan& p) {
  const auto patches = std::uint64_t(p.patches[0]) * std::uint64_t(p.patches[1]) * std::uint64_t(p.patches[2]);
  return ids++ * patches + std::uint64_t(number);
}

template struct patch<float>;
template struct patch<double>;

}  // namespace plaq::pic
