// Schedule: the steps of one rank in a collective operation, as data. It runs over MPI, in memory, or on the clock of a
// simulated machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace plaq::comm {

/// Buffers of a schedule: two of the caller and one of its own. The input is never written.
enum class memory : std::uint8_t { input, output, scratch };

/// Offset in a buffer.
struct location {
  memory where = memory::output;
  std::size_t offset = 0;
  location operator+(std::size_t bytes) const { return {where, offset + bytes}; }
  bool operator==(const location&) const = default;
};

/// Step of a schedule.
struct step {
  enum class action : std::uint8_t {
    send,     ///< `from` to `peer`
    receive,  ///< `to` from `peer`
    copy,     ///< to = from
    combine   ///< to = from op right; `to` may be one of the two
  };
  action what;
  int peer;
  std::size_t size;  ///< bytes
  location to, from, right;
};

/// Steps of one rank and their dependences. Messages of two ranks match in the order of their steps, as MPI matches
/// messages of one tag.
struct schedule {
  /// Dependence of a later step on an earlier one: until that is complete, or only until it has begun.
  struct edge {
    std::uint32_t later : 31;
    std::uint32_t only_begun : 1;
  };
  std::vector<step> steps;
  std::vector<std::uint32_t> waits_for;   ///< [steps] number of edges that end here
  std::vector<std::uint32_t> edge_begin;  ///< [steps + 1]
  std::vector<edge> edges;                ///< those of step i are edge_begin[i] ... edge_begin[i + 1] - 1
  std::size_t scratch = 0;                ///< bytes
};

/// Writer of a schedule, as if its steps ran one after the other. Dependences follow from the bytes that each step
/// reads and writes: a step waits for the last writer of what it reads, and for writer and readers of what it writes. A
/// message begins only after the earlier ones to (or from) the same peer. Steps of size 0 are dropped.
class program {
 public:
  void send(int peer, location from, std::size_t size);
  void receive(int peer, location to, std::size_t size);
  void copy(location to, location from, std::size_t size);
  void combine(location to, location left, location right, std::size_t size);
  /// Allocates bytes of the schedule's own buffer.
  location allocate(std::size_t size);

  schedule finish() &&;

 private:
  struct use {
    std::size_t end;
    std::uint32_t writer;
    std::vector<std::uint32_t> readers;
  };
  using uses = std::map<std::size_t, use>;  // by their first byte; they do not overlap

  std::uint32_t add(const step& s);
  void reads(std::uint32_t index, location from, std::size_t size);
  void writes(std::uint32_t index, location to, std::size_t size);
  void follow(std::uint32_t index, std::map<int, std::uint32_t>& last, int peer);
  void wait(std::uint32_t later, std::uint32_t earlier, bool only_begun);
  static void cut(uses& all, std::size_t at);

  static constexpr std::uint32_t no_step = ~std::uint32_t(0);
  struct dependence {
    std::uint32_t earlier;
    schedule::edge edge;
  };
  std::vector<step> steps_;
  std::vector<dependence> dependences_;
  uses uses_[3];
  std::map<int, std::uint32_t> last_send_, last_receive_;
  std::size_t scratch_ = 0;
};

}  // namespace plaq::comm
