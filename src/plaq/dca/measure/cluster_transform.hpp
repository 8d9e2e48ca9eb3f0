// Fast Fourier transform from the sites of a cluster to its momenta, of many functions at once.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace plaq::dca {

/// Transform out[K] = sum_R F[K][R] in[R], F[K][R] = exp(-i K.R), or with F* in place of F.
///
/// The sites are a group, of which a momentum kappa with F[kappa][R] = +-1 marks a half H: the sites with +1. With any
/// site g of the other half, and E[K], D[K] the transforms over h of in[h] and in[g + h],
///   out[K] = E[K] + F[K][g] D[K],   out[K + kappa] = E[K] - F[K][g] D[K].
/// H is divided likewise, until no such kappa is left; the rest, of odd size, is summed as it stands. That is Cooley
/// and Tukey's decimation in time, Math. Comp. 19, 297 (1965), for any cluster.
class cluster_transform {
 public:
  /// `fourier[K][R]`: a square table of the characters of an abelian group, K = 0 and R = 0 being its identities.
  /// Throws a runtime_failure for any other.
  explicit cluster_transform(const std::vector<std::complex<double>>& fourier);

  /// Transforms in place functions in[R][i], i = 0 ... inner - 1, real and imaginary parts separate.
  void apply(bool conjugate, std::size_t inner, float* re, float* im);

 private:
  /// Sum and difference of two strips of the work space, the second one times a phase first.
  struct butterfly {
    int first, second;
    std::complex<float> phase;
  };
  /// One group of odd size: its strips, and its table.
  struct odd_sum {
    int begin;
    std::vector<std::complex<float>> table;  // [K][R]
  };
  /// Part of the group: element[i] of the group has the values at site input[i].
  struct part {
    std::vector<int> input, element, character;
  };
  class planner;

  void sum_odd(const odd_sum& odd, bool conjugate, std::size_t width);
  void combine(const butterfly& b, bool conjugate, std::size_t width);

  int size_;
  std::vector<int> input_, output_;  // of every strip: the site that is read, the momentum that is written
  std::vector<odd_sum> odd_;
  std::vector<butterfly> butterflies_;
  std::vector<float> re_, im_, sum_re_, sum_im_;  // strips of the work space
};

}  // namespace plaq::dca
