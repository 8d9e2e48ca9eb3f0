// Distribution of the indices of a loop over the tasks that run it: OpenMP's schedules.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stop_token>

namespace plaq::task {

/// Schedule of a loop: which task runs which indices.
enum class sharing {
  static_,  ///< in advance: of T tasks that on worker t gets the chunks t, t + T, ...; without a chunk one block each
  dynamic,  ///< one chunk at a time on request; without a chunk one index at a time
  guided,   ///< on request, pieces that shrink: 1 / 2T of the rest, at least a chunk
};

/// Options of parallel_for and parallel_reduce.
struct loop_options {
  task::sharing sharing = task::sharing::guided;
  std::size_t chunk = 0;      ///< indices; 0: see sharing
  std::stop_token stop = {};  ///< checked before each piece
};

namespace detail {

/// Splits the range [0, n) into pieces for `members`, each of which asks until none is left.
class loop_splitter {
 public:
  struct piece {
    std::size_t from = 0, to = 0;
    std::size_t turn = 0;  ///< pieces that this member had before
  };

  loop_splitter(std::size_t n, std::size_t workers, const loop_options& how)
      : n_(n),
        how_(how.sharing),
        chunk_(std::max<std::size_t>(how.chunk, 1)),
        members_(std::min(workers, 1 + (n - 1) / chunk_)) {
    if (how.chunk == 0 && how_ == sharing::static_) chunk_ = 1 + (n - 1) / members_;
  }

  std::size_t members() const { return members_; }

  /// Gets the member's next piece; returns false if there is none. Pieces of one member are in ascending order.
  bool next(std::size_t member, piece& p) {
    std::size_t size = chunk_;
    if (how_ == sharing::static_) {
      p.from = (p.turn++ * members_ + member) * chunk_;
    } else if (how_ == sharing::dynamic) {
      p.from = next_.fetch_add(chunk_, std::memory_order_relaxed);
    } else {
      p.from = next_.load(std::memory_order_relaxed);
      do {
        if (p.from >= n_) return false;
        size = std::max(chunk_, (n_ - p.from) / (2 * members_));
      } while (!next_.compare_exchange_weak(p.from, p.from + size, std::memory_order_relaxed));
    }
    if (p.from >= n_) return false;
    p.to = p.from + std::min(size, n_ - p.from);
    return true;
  }

 private:
  const std::size_t n_;
  const sharing how_;
  std::size_t chunk_;
  const std::size_t members_;
  alignas(64) std::atomic<std::size_t> next_{0};  // on a cache line of its own: all members write to it
};

}  // namespace detail
}  // namespace plaq::task
