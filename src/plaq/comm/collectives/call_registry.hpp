// Registry of the collective calls of this process, for queries of ranks that wait for it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plaq::comm {

class operations;

/// Collective call: arguments that are the same on all ranks of a group.
struct collective_call {
  static constexpr std::uint64_t any_length = ~std::uint64_t(0);
  std::string_view name = {};  ///< lives as long as the process
  std::uint64_t bytes = 0;     ///< of a block
  std::uint32_t root = 0;
  std::uint32_t grain = 0;  ///< bytes of a value, and whether the order is fixed
  bool operator==(const collective_call&) const = default;
  /// Returns text such as "broadcast of 24 bytes, root 1".
  std::string in_words() const;
};

/// Record of the last calls of one `collectives` object, in their order. Its group has a number that is the same on all
/// of its ranks; 0 where there are no queries.
class call_record {
 public:
  void add(const collective_call& what) { last_[count_++ % last_.size()] = what; }
  std::uint64_t count() const { return count_; }
  /// Returns call number `number`, or null if it is too long ago or has not been made.
  const collective_call* find(std::uint64_t number) const {
    return number < count_ && count_ - number <= last_.size() ? &last_[number % last_.size()] : nullptr;
  }

 private:
  std::array<collective_call, 16> last_{};
  std::uint64_t count_ = 0;
};

/// Collectives of this process. From any thread.
namespace call_registry {

/// Query of a rank whether another has made this call too; as sent.
struct query {
  std::uint64_t group = 0, number = 0;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0, grain = 0;
  std::array<char, 24> name{};
};
enum class agreement : std::uint32_t {
  same,   ///< it has made the call, or may still
  other,  ///< it has made another call instead
  never   ///< its `collectives` were destroyed without the call
};
struct answer {
  agreement what = agreement::same;
  std::array<char, 64> call{};  ///< made instead
};
/// Returns the answer of this process to a query.
answer answer_to(const query& asked);

/// Call that has not ended on this rank, and the ranks of the world that it waits for.
struct open_call {
  call_registry::query query;
  std::string in_words;
  std::vector<int> awaited;
};
std::vector<open_call> open_calls();

/// Rank of this process in the world, set by its heartbeat; -1 before.
void set_world_rank(int rank);
int world_rank();
/// Returns a number for a group that is unique in the job; one of its ranks calls.
std::int64_t new_group();

/// Registers operations; queries about their group are answered then. After `leave` the number of calls is kept.
void enter(operations& of);
void leave(operations& of);

}  // namespace call_registry

}  // namespace plaq::comm
