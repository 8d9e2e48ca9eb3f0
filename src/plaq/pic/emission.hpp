// Plates that give off particles.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

template <class T>
struct patch;

/// A part of a plate, about as wide as a cell, that gives off particles by itself, with random numbers of its own:
/// so what a plate does depends on no patches. Where it crosses from patch to patch each of them has it, and keeps
/// what begins in it. Of a plate that is limited by space charge: a face of a cell at the side of the box.
struct tile {
  int of = 0;  ///< the emitter
  std::uint32_t number = 0;
  std::array<int, 2>
      at{};  ///< along the plate's two directions; of a face, its cell of the patch in the other dimensions
  std::array<int, 2> count{1, 1};
  double area = 1;
};
std::vector<tile> tiles_of(const plan& p, const block& m);

/// Unit vectors: the normal and two directions along the plate; of these the first `dimensions - 1` lie in the mesh.
struct frame {
  std::array<double, 3> normal, first, second;
};
frame frame_of(const plan& p, const emitter& e);

/// Particles of species s that begin in a patch in a step, on their plates, with their momentum, as E and the particles
/// are before the step. What they leave behind goes to the patch's plates, where it has its image if the plate is a
/// conductor.
template <class T>
under_way<T> emit(const plan& p, patch<T>& me, std::size_t s);

}  // namespace plaq::pic
