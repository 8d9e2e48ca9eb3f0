// Neighbours of a configuration, measured with it: they remove the heavy tails of products of Green's functions.
#pragma once
#include "plaq/dca/walk/sample.hpp"

namespace plaq::dca {

/// Flips the auxiliary spin of vertex p: computes M, N_pp and sign of that configuration by a rank-one update,
///   r = 1 + (y - 1)(1 - N_pp),   y = (e^{-V} - 1) / (e^V - 1) = -e^{-V},   w(C_p)/w(C) = r_up r_down,
///   M'_ij = M_ij + M_ip (y - 1) M_pj / (r x_p) for i != p,   M'_pj = y M_pj / r,   x = e^V - 1.
void flip(const sample& s, int p, sample& out);

/// Returns mis_weight(C) = 1/(1 + mean_p |w(C_p)/w(C)|), the mean over all vertices p; 1 without vertices.
///
/// Near a zero of the weight w(C) an observable O grows like 1/w or (both spins) 1/w^2, so that <O> exists and the
/// variance of O does not. Such a configuration has neighbours C_p, with one spin flipped, of ordinary weight.
/// Measured are mis_weight(C) O(C) of the walk and mis_weight(C_p) O(C_p) of one random neighbour. Their sum has the
/// mean of O,
///   sum_C |w(C)| mean_p mis_weight(C_p) O(C_p) = sum_C mis_weight(C) O(C) mean_p |w(C_p)|,
/// and no pole where w(C) -> 0, since mis_weight(C) vanishes there like w(C). This is multiple importance sampling
/// (MIS) with the balance heuristic: Veach, Guibas, SIGGRAPH 95, 419.
double mis_weight(const sample& s);

}  // namespace plaq::dca
