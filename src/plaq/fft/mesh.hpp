// Fourier transforms of a mesh that is distributed over ranks, as data flow.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/fft/lines.hpp"

namespace plaq::fft {

/// Block of points first ... first + extent - 1 in each dimension.
struct block {
  std::array<int, 3> first, extent;
  std::size_t size() const { return std::size_t(extent[0]) * std::size_t(extent[1]) * std::size_t(extent[2]); }
  bool operator==(const block&) const = default;
};

/// Decomposition of a three-dimensional mesh. Slabs contain whole x-y planes and are at most as many as planes; data
/// are exchanged once. Pencils contain whole lines of one dimension; there can be more of them, and data are exchanged
/// twice. A two-dimensional mesh is cut into rows.
enum class cuts { slabs, pencils };

/// Decomposition of a mesh and number of its parts.
struct mesh_options {
  cuts by = cuts::slabs;
  int parts_per_rank = 4;  ///< so that some are sent while others are transformed
};

/// Discrete Fourier transform of nx x ny x nz points, X(k) = sum_x x(r) exp(-2 pi i sum_d r_d k_d / n_d), and the
/// inverse, with the factor 1 / (nx ny nz). A two-dimensional mesh has nz = 1; a one-dimensional one is not
/// distributed.
///
/// The mesh is cut into parts, more than ranks. Each is an element of a collection that transforms its lines along x
/// and sends its share of y to each other part, transforms along y as soon as all shares have arrived, sends shares of
/// z, and so on. A part waits for these parts only. Lines are transformed from the shares that have come to those that
/// go, without a copy between.
///
/// Values are read and written part by part: read(block, values) and write(block, values) are called as tasks, for
/// blocks of this rank concurrently, with x running fastest, then y, then z, in real and in k space. The calls below
/// are collective, and return when all is done. Between calls a mesh keeps the memory of its parts. Errors are those of
/// a collection.
class mesh {
 public:
  using read_complex = std::function<void(const block&, std::span<complex>)>;
  using write_complex = std::function<void(const block&, std::span<const complex>)>;
  using read_real = std::function<void(const block&, std::span<double>)>;
  using write_real = std::function<void(const block&, std::span<const double>)>;
  /// Function that changes values in k space.
  using change = std::function<void(const block&, std::span<complex>)>;

  /// Collective.
  ///
  /// @pre every extent >= 1 and at least one part per rank, else input_error
  mesh(std::string name, const comm::communicator& over, task::detail::pool_base& pool, std::array<int, 3> extent,
       const mesh_options& how = {});

  /// Blocks of this rank, in the order of parts; with real values k_x goes from 0 to nx/2. Some may be empty.
  std::vector<block> blocks();
  std::vector<block> blocks_of_k(bool real);

  void forward(const read_complex& read, const write_complex& write);
  void backward(const read_complex& read, const write_complex& write);
  void forward_real(const read_real& read, const write_complex& write);
  void backward_real(const read_complex& read, const write_real& write);
  /// Transforms, applies `in_k` in k space, and transforms back: solves equations that are diagonal in k, such as
  /// Poisson's.
  void apply(const read_complex& read, const change& in_k, const write_complex& write);
  void apply_real(const read_real& read, const change& in_k, const write_real& write);

  std::array<int, 3> extent() const { return n_; }
  std::array<int, 2> parts() const { return parts_; }

 private:
  using chunk = std::vector<complex>;
  struct part {
    std::vector<complex> values;
    std::vector<chunk> spare;  ///< memory of chunks that have come, for those that go
    chunk make_chunk(std::size_t size);
    void serialize(archive& ar) {
      ar(values);
      ar.leaves_out(spare);
    }
  };
  using context_t = plaq::step_context<part, index2>;
  /// Dimension whose lines are whole: x, y or z.
  enum stage : int { in_x, in_y, in_z };

  /// Share `which` of 0 ... n - 1 in `of` parts.
  static std::array<int, 2> share(int n, int of, int which);
  block block_of(stage now, index2 at, bool real) const;
  std::vector<block> blocks_in(stage now, bool real);
  double scale() const { return 1 / (double(n_[0]) * n_[1] * n_[2]); }

  /// Course of a transform: its direction, and whether the values in real space are real numbers.
  struct course {
    bool forward, real;
  };
  int parts_between(stage from, stage to) const { return from == in_x || to == in_x ? parts_[0] : parts_[1]; }
  std::span<double> reals_of(part& p, const block& of, bool forward) const;
  void transform(stage now, const course& of, part& p, const block& mine, lines::constant_pieces from,
                 lines::pieces to) const;
  void advance(part& p, context_t& context, stage now, const course& of, lines::constant_pieces from);

  /// Block of real values that belongs to one with lines of k_x.
  block points_of(const block& half) const { return {half.first, {n_[0], half.extent[1], half.extent[2]}}; }
  auto reads(const read_complex& read) const;
  auto reads(const read_real& read) const;
  auto writes(const write_complex& write) const;
  auto writes(const write_real& write) const;

  // The steps that calls are made of.
  template <class Read>
  void start(const course& of, Read read);
  void turn(stage from, stage to, const course& of);
  void go(const course& of);
  void change_k(bool real, const change& in_k);
  template <class Write>
  void finish(const course& of, Write write);

  const std::array<int, 3> n_;
  const std::array<int, 2> parts_;
  const lines x_, y_, z_;
  collection<part, index2> pieces_;
  port<part, index2, chunk> chunks_;
};

}  // namespace plaq::fft
