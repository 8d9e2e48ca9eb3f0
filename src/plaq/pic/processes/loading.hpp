// Initial particles: positions and momenta.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Returns positions [particle][dimension] in the box for `per_cell` particles in each cell of a patch, cell by cell, x
/// fastest, in cells from `from_x` on. They are random or, with `even`, on a grid of points in each cell. They are a
/// function of seed, `stream`, cell and number in the cell: two species with the same stream have the same positions.
/// Throws input_error where per_cell is below 1.
std::vector<double> make_positions(const plan& p, const patch_grid& m, std::uint32_t stream, int per_cell, bool even,
                                   int from_x = 0);

/// Number of a particle's cell in the box, and the number of particles before it in that cell.
struct number_in_cell {
  std::uint64_t cell = 0, number = 0;
};
/// Returns the numbers of particles at positions x [particle][dimension] in a patch.
std::vector<number_in_cell> numbers_by_cell(const plan& p, const patch_grid& m, std::span<const double> x);
/// Returns four numbers in [0, 1) for a momentum: a function of seed, species, particle and round, which is below 2^20.
std::array<double, 4> draw_uniform(const plan& p, std::size_t species, const number_in_cell& particle,
                                   std::uint64_t round);

/// Properties of particles to be loaded, an entry for each particle.
struct particle_source {
  std::span<const double> x;  ///< [particle][dimension], in the box
  std::span<const double> w;
  std::span<const double> drift, thermal;  ///< [particle][3]: of u = gamma v / c
  bool juttner = false;
};

/// Adds particles of species s: u = drift + thermal * normal numbers. juttner: in the frame that moves with momentum
/// `drift`, u is drawn from exp(-gamma / T) with T = thermal[0], in mc^2. Random numbers are functions of seed,
/// species, cell and number in the cell. Throws input_error where a particle is not in the patch, or has a momentum or
/// weight that is not finite.
template <class T>
void load(const plan& p, patch<T>& self, std::size_t s, const particle_source& source);

/// Returns a momentum of the Maxwell-Juettner distribution ~ exp(-gamma / temperature), at any temperature. With gamma
/// = 1 + T x, proposals for x are drawn from gamma distributions, of which more than 7 in 10 are accepted (Canfield,
/// Howard, Liang, Astrophys. J. 323 (1987) 565; Zenitani, Nakano, Phys. Plasmas 29 (2022) 113904). Uses words of the
/// stream from `index` on.
std::array<double, 3> draw_juttner(const stream_id& stream, std::uint64_t index, double temperature);
/// Returns u reversed along the drift with the probability -beta v, so that the density in the box is uniform after the
/// boost (Zenitani, Phys. Plasmas 22 (2015) 042116).
std::array<double, 3> flip_along(std::array<double, 3> u, const std::array<double, 3>& drift, std::uint64_t word);
/// Returns u, of the frame that moves with momentum `drift`, in the box.
std::array<double, 3> boost(const std::array<double, 3>& u, const std::array<double, 3>& drift);

}  // namespace plaq::pic
