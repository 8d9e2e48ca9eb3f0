// Particles of the beginning: where they are, and with what momenta.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Positions [particle][dimension] in the box for `per_cell` particles in each cell of a patch, cell by cell, x
/// fastest: at random, or `even`: on a grid of points in each cell, with as many in each dimension as the roots of
/// per_cell, which has to be a product of them, allow (input_error else). A function of seed, `stream`, cell and
/// number in the cell: two species with the same stream are at the same places. Only in cells from `from_x` on.
std::vector<double> places(const plan& p, const block& m, std::uint32_t stream, int per_cell, bool even,
                           int from_x = 0);

/// What particles are made from, an entry for each.
struct loaded {
  std::span<const double> x;  ///< [particle][dimension], in the box
  std::span<const double> w;
  std::span<const double> drift, thermal;  ///< [particle][3]: of u = gamma v / c
  bool juttner = false;
};

/// Adds particles of species s, which have to lie in the patch (input_error else): u = drift + thermal * normal
/// numbers. juttner: in the frame that moves with momentum `drift`, u is drawn from exp(-gamma / T) with T =
/// thermal[0], in mc^2. Random numbers are functions of seed, species, cell and number in the cell.
template <class T>
void load(const plan& p, patch<T>& me, std::size_t s, const loaded& what);

/// A momentum of the Maxwell-Juettner distribution ~ exp(-gamma / temperature), at any temperature: with gamma = 1
/// + T x proposals for x from gamma distributions, of which more than 7 in 10 are taken (Canfield, Howard, Liang,
/// Astrophys. J. 323 (1987) 565; Zenitani, Nakano, Phys. Plasmas 29 (2022) 113904); `index` draws of the stream
/// from there are its own.
std::array<double, 3> juettner(const stream_id& stream, std::uint64_t index, double temperature);
/// A momentum of the frame that moves with `drift` as it is to be so that after the boost the density in the box
/// is the same everywhere: turned round along the drift with the probability -beta v (Zenitani, Phys. Plasmas 22
/// (2015) 042116).
std::array<double, 3> turned_along(std::array<double, 3> u, const std::array<double, 3>& drift, std::uint64_t word);
/// u of the frame that moves with momentum `drift`, as it is in the box.
std::array<double, 3> boosted(const std::array<double, 3>& u, const std::array<double, 3>& drift);

}  // namespace plaq::pic
