// Directory of a rank: its elements, and the locations of elements that have left it.
//
// An element begins at home. The rank that it leaves keeps a forwarding entry; its home does so too, and so does a
// rank whose message was forwarded. An entry holds a rank and the number of moves after which the element is there.
// A message goes where its sender believes the receiver to be, with the number of moves of that entry. A rank without
// the element forwards the message if its own entry is of more moves; otherwise the element is on its way to it, and
// the message waits. The number grows with every forwarding, so a message arrives in whatever order messages and
// elements travel.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plaq/collection/runtime/element.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Rank of an element, and the number of moves after which it is there.
struct location {
  int rank;
  std::int64_t moves;
  bool operator==(const location&) const = default;
};

/// Table of the elements of a rank, of messages that wait for elements, and of forwarding entries. Any thread may
/// call. The table is split into shards with a lock each; it is a spin lock, so what is called with it is short.
class directory {
 public:
  /// Number of moves of a new element, whose home sets it.
  static constexpr std::int64_t is_new = -2;

  /// `home`: the rank on which an element begins.
  directory(int rank, std::function<int(key)> home) : rank_(rank), home_(std::move(home)) {}

  int home(key id) const { return home_(id); }
  /// Number of elements on this rank.
  std::uint64_t size() const { return size_; }
  /// Number of elements whose home is this rank, wherever they are.
  std::uint64_t at_home() const { return at_home_; }

  /// Lock of the shard of an element, which guards its status, inbox and expectations.
  [[nodiscard]] static std::unique_lock<task::detail::spin_lock> lock(const element& e) {
    return std::unique_lock(*e.guard);
  }

  /// Calls accept(element, message), locked, if the element is here. Keeps the message for an element on its way to
  /// this rank. Otherwise returns the location to forward the message to, which is then not consumed. `moves`: of the
  /// entry that led the message here; -1 where it begins.
  template <class Accept>
  std::optional<location> deliver(key to, std::int64_t moves, std::unique_ptr<message>&& what, Accept accept) {
    shard& in = shard_of(to);
    std::lock_guard lock(in.guard);
    if (const auto found = in.elements.find(to); found != in.elements.end()) {
      accept(*found->second, std::move(what));
      return std::nullopt;
    }
    const location there = entry(in, to);
    if (there.rank != rank_ && there.moves > moves) return there;
    in.waiting[to].add(std::move(what));
    return std::nullopt;
  }

  /// Adds an element that has arrived; its forwarding entry goes. Calls accept(element, message), locked, for each
  /// message that has waited for it. Returns null if there is such an element already.
  template <class Accept>
  element* insert(std::unique_ptr<element> fresh, Accept accept) {
    element& e = *fresh;
    shard& in = shard_of(e.id);
    std::lock_guard lock(in.guard);
    if (in.elements.contains(e.id)) return nullptr;
    // Number of moves of an element that is inserted again: more than any entry of the removed one, and than the update
    // about its removal.
    const bool begins = e.moves == is_new || e.moves == 0;
    if (e.moves == is_new) e.moves = in.forwarding.contains(e.id) ? in.forwarding[e.id].moves + 2 : 0;
    in.forwarding.erase(e.id);
    e.guard = &in.guard;
    in.elements.emplace(e.id, std::move(fresh));
    ++size_;
    at_home_ += begins;
    if (const auto found = in.waiting.find(e.id); found != in.waiting.end()) {
      while (found->second.size() > 0) accept(e, found->second.take_first());
      in.waiting.erase(found);
    }
    return &e;
  }
  /// Removes a running element of this rank, and leaves a forwarding entry to `rank` with one move more.
  std::unique_ptr<element> remove(element& e, int rank);

  /// Location of an element that is not here: its entry, else its home after no moves.
  location find(key id);
  /// Number of moves of an element that is here.
  std::optional<std::int64_t> moves_of(key id);
  /// Replaces the entry of an element that is not here if the update is of more moves.
  void update(const location_update& of);
  /// Counts the removal of an element whose home this is.
  void count_removed() { --at_home_; }
  /// Drops the entries of elements that are at home on other ranks. @pre No message and no element is in progress.
  void forget_detours();

  /// Calls use(element) for each element of a shard, locked; then after(), unlocked; then the same for the next shard.
  template <class Use, class After>
  void for_each(Use use, After after) {
    for (shard& in : shards_) {
      {
        std::lock_guard lock(in.guard);
        for (auto& [id, e] : in.elements) use(*e);
      }
      after();
    }
  }
  template <class Use>
  void for_each(Use use) {
    for_each(std::move(use), [] {});
  }
  /// Elements of this rank in the order of keys.
  std::vector<element*> sorted();
  /// Calls use(key, messages), locked, for each element that messages wait for.
  template <class Use>
  void for_each_awaited(Use use) {
    for (shard& in : shards_) {
      std::lock_guard lock(in.guard);
      for (const auto& [id, messages] : in.waiting) use(id, messages);
    }
  }

 private:
  struct alignas(64) shard {
    task::detail::spin_lock guard;
    std::unordered_map<key, std::unique_ptr<element>> elements;
    std::unordered_map<key, location> forwarding;
    std::unordered_map<key, message_list> waiting;
  };
  shard& shard_of(key id);
  location entry(const shard& in, key id) const;

  const int rank_;
  const std::function<int(key)> home_;
  std::array<shard, 64> shards_;
  std::atomic<std::uint64_t> size_{0}, at_home_{0};
};

}  // namespace plaq::elements
