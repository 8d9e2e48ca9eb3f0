// Poisson's equation in two and three dimensions, by Fourier transforms.
#pragma once
#include "plaq/pic/poisson/poisson.hpp"

namespace plaq::pic {

/// Largest number of nodes beside conductors and on surfaces of dielectrics in the box, in two and three dimensions.
constexpr std::size_t max_surface_nodes = 4096;

/// Makes a solver of -sum scale_d d/dx_d (epsilon d phi/dx_d) = rho by Fourier transforms of a distributed mesh.
/// Between conducting sides phi is that of the charges and their images in a periodic box of twice the length, where
/// both are odd; the potential of a side is replaced by charges beside it. Nodes beside conductors and between cells of
/// different permittivity have equations of their own: the flux of epsilon E from the node is its charge, and an edge
/// to a conductor has the length that is outside of it (Gibou et al., J. Comput. Phys. 176 (2002) 205). The nodes get
/// the charge that makes them so, by the inverse of the matrix of what unit charges there do, computed once (the
/// capacity matrix of Hockney, J. Appl. Phys. 39 (1968) 4166; Buzbee, Dorr, George, Golub, SIAM J. Numer. Anal. 8
/// (1971) 722). Charges within dielectrics count by 1/epsilon. phi within conductors has no meaning. Throws input_error
/// where this build has no transforms, or there are more such nodes than max_surface_nodes.
std::unique_ptr<poisson> make_fourier_solver(const plan& p, const comm::communicator& over,
                                             task::detail::pool_base& pool, const std::array<double, 3>& scale);

}  // namespace plaq::pic
