// Fourier transforms of a mesh that is spread over ranks, as data flow.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/fft/lines.hpp"

namespace plaq::fft {

/// Points first ... first + extent - 1 in each dimension.
struct block {
  std::array<int, 3> first, extent;
  std::size_t size() const { return std::size_t(extent[0]) * std::size_t(extent[1]) * std::size_t(extent[2]); }
  bool operator==(const block&) const = default;
};

/// How a mesh of three dimensions is cut. Slabs are whole in x and y and no more than there are planes; they
/// travel once. Pencils are whole in one dimension; there are more of them, and they travel twice. In two
/// dimensions there are rows.
enum class cuts { slabs, pencils };

struct mesh_options {
  cuts by = cuts::slabs;
  int parts_per_rank = 4;  ///< so that some travel while others are transformed
};

/// Discrete Fourier transform of nx x ny x nz points, X(k) = sum_x x(r) exp(-2 pi i sum_d r_d k_d / n_d), and
/// back, with the factor 1 / (nx ny nz). A mesh of two dimensions has nz = 1; one of one dimension is not spread.
///
/// The mesh is in parts, more than ranks; each is an element of a collection, that transforms its lines along x,
/// sends to each part what that has of y, transforms along y as soon as all has come, sends what others have of z,
/// and so on. No part waits for others than those.
///
/// Values are given and taken part by part: read(block, values) and write(block, values) are called as tasks, of
/// blocks of this rank at the same time, with x running fastest in real space, and z running fastest, then x, then
/// y in the space of k. The calls below are collective, and return when all is done. Errors are those of a
/// collection.
class mesh {
 public:
  using read_complex = std::function<void(const block&, std::span<complex>)>;
  using write_complex = std::function<void(const block&, std::span<const complex>)>;
  using read_real = std::function<void(const block&, std::span<double>)>;
  using write_real = std::function<void(const block&, std::span<const double>)>;
  /// Changes values in the space of k.
  using change = std::function<void(const block&, std::span<complex>)>;

  /// Collective. Throws input_error for an extent below 1, and for fewer than one part per rank.
  mesh(std::string name, const comm::communicator& over, task::detail::pool_base& pool, std::array<int, 3> extent,
       const mesh_options& how = {});

  /// The blocks of this rank, in the order of parts; with real values k_x goes from 0 to nx/2. Some may be empty.
  std::vector<block> blocks();
  std::vector<block> blocks_of_k(bool real);

  void forward(const read_complex& read, const write_complex& write);
  void backward(const read_complex& read, const write_complex& write);
  void forward_real(const read_real& read, const write_complex& write);
  void backward_real(const read_complex& read, const write_real& write);
  /// There and back, with `what` in between: solves equations that are diagonal in k, such as Poisson's.
  void apply(const read_complex& read, const change& what, const write_complex& write);
  void apply_real(const read_real& read, const change& what, const write_real& write);

  std::array<int, 3> extent() const { return n_; }
  std::array<int, 2> parts() const { return parts_; }

 private:
  struct part {
    std::vector<complex> values;
    void serialize(archive& ar) { ar(values); }
  };
  using context_t = plaq::step_context<part, index2>;
  using chunk = std::vector<complex>;
  /// What is whole: x, y or z.
  enum stage : int { in_x, in_y, in_z };

  /// A share of 0 ... n - 1 in so many parts.
  static std::array<int, 2> share(int n, int of, int which);
  block block_of(stage now, index2 at, bool real) const;
  std::vector<block> blocks_in(stage now, bool real);
  double scale() const { return 1 / (double(n_[0]) * n_[1] * n_[2]); }

  // The steps that calls are made of.
  template <class First>
  void start(stage at, bool real, First first);
  void start_in_x(const read_complex& read);
  void start_in_x(const read_real& read);
  void turn(stage from, stage to, bool real);
  void to_k(bool real);
  void change_k(bool real, const change& what);
  void backward_in_z();
  void from_k(bool real);
  void finish_in_x(const write_complex& write);
  void finish_in_x(const write_real& write);
  template <class Last>
  void finish(stage at, bool real, Last last);

  const std::array<int, 3> n_;
  const std::array<int, 2> parts_;
  const lines x_, y_, z_;
  collection<part, index2> pieces_;
  port<part, index2, chunk> chunks_;
};

}  // namespace plaq::fft
