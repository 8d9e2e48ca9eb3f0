// Which collective calls this process has made and which it waits in, for those that wait for it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plaq::comm {

class operations;

/// A collective call: what all ranks of a group give alike.
struct collective_call {
  std::string_view name = {};  ///< lives as long as the process
  std::uint64_t bytes = 0;     ///< of a block
  std::uint32_t root = 0;
  std::uint32_t grain = 0;  ///< bytes of a value, and whether the order is fixed
  bool operator==(const collective_call&) const = default;
  /// E.g. "broadcast of 24 bytes from rank 1".
  std::string in_words() const;
};

/// The calls of one `collectives` object, in the order in which they were made. Its group has a number which all of
/// its ranks know it by; 0 where nobody asks after it.
class call_record {
 public:
  void made(const collective_call& what) { last_[made_++ % last_.size()] = what; }
  std::uint64_t count() const { return made_; }
  /// Number `which` of those made; nullptr where it is too long ago, or still to come.
  const collective_call* find(std::uint64_t which) const {
    return which < made_ && made_ - which <= last_.size() ? &last_[which % last_.size()] : nullptr;
  }

 private:
  std::array<collective_call, 16> last_{};
  std::uint64_t made_ = 0;
};

/// The collectives of this process. From any thread.
namespace roll_call {

/// Question of one rank to another, whether it has made this call too; as sent.
struct question {
  std::uint64_t group = 0, number = 0;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0, grain = 0;
  std::array<char, 24> name{};
};
enum class verdict : std::uint32_t {
  agrees,  ///< it has made the call, or may still
  other,   ///< it has made another one instead
  never    ///< its `collectives` are gone, and the call was not made
};
struct answer {
  verdict what = verdict::agrees;
  std::array<char, 64> call{};  ///< that it has made instead
};
answer to(const question& asked);

/// A call that has not ended here, and the ranks of the world that it waits for now.
struct open_call {
  question asked;
  std::string in_words;
  std::vector<int> awaited;
};
std::vector<open_call> open_calls();

/// This process in the world, once somebody there answers for it; -1 before.
void set_world_rank(int rank);
int world_rank();
/// A number that no other group of the job has, from one of its ranks.
std::int64_t new_group();

/// From `enter` on questions about the group are answered. After `leave` it is known how many calls were made.
void enter(operations& of);
void leave(operations& of);

}  // namespace roll_call

}  // namespace plaq::comm
