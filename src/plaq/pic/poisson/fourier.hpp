// Poisson's equation in two and three dimensions, by Fourier transforms.
#pragma once
#include "plaq/pic/poisson/poisson.hpp"

namespace plaq::pic {

/// Largest number of nodes on surfaces of conductors and dielectrics in the box, in two and three dimensions.
constexpr std::size_t max_surface_nodes = 4096;

/// Makes a solver of -sum scale_d d/dx_d (epsilon d phi/dx_d) = rho by Fourier transforms of a distributed mesh.
/// Between conducting sides phi is that of the charges and their images in a periodic box of twice the length, where
/// both are odd; the potential of a side is replaced by charges beside it. Conductors in the box get the surface charge
/// that brings them to their potential, by the inverse of the matrix of potentials of unit charges, computed once (the
/// capacity matrix of Hockney, J. Appl. Phys. 39 (1968) 4166; Buzbee, Dorr, George, Golub, SIAM J. Numer. Anal. 8
/// (1971) 722). Dielectrics get the polarisation charge between cells of different permittivity that makes the flux of
/// epsilon E from each node its charge, in the same way; charges within them count by 1/epsilon. Throws input_error
/// where this build has no transforms, or there are more nodes on surfaces than max_surface_nodes.
std::unique_ptr<poisson> make_fourier_solver(const plan& p, const comm::communicator& over,
                                             task::detail::pool_base& pool, const std::array<double, 3>& scale);

}  // namespace plaq::pic
