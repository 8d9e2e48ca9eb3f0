// Reductions over all elements. Packed values go to a root, which combines them in the order of keys; or partial
// results are combined along a tree of ranks.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "plaq/collection/runtime/element.hpp"
#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Reductions in progress on a rank, by step. Contributions and results may arrive before the driver of this rank has
/// begun the reduction.
class reductions {
 public:
  /// One reduction.
  struct request {
    trace::label name;
    int root = 0;
    std::function<void(element&, std::vector<std::byte>& to)> give;   ///< appends the value of an element
    std::function<std::vector<std::byte>(packed_values all)> finish;  ///< on the root; `all` in the order of keys
    std::function<void(std::span<const std::byte>)> take;             ///< on every rank, with the result
    std::function<void(std::exception_ptr)> fail;                     ///< instead of take
    bool holds = false;  ///< elements wait for the result; the caller releases them
    /// In place of finish and take: called on every rank with the values of its own elements, once all elements of all
    /// ranks have contributed.
    std::function<void(step_number, packed_values own)> take_own = {};
    /// In place of finish: values are combined along a tree of ranks, in the order of their places.
    struct along_tree {
      std::function<std::uint64_t(key)> place;  ///< 0 ... total - 1
      std::uint64_t total = 0;
      combine_packed combine;
      std::vector<std::byte> of_none;  ///< result without elements
    };
    std::optional<along_tree> tree = {};
  };
  /// Connections to the rest of a rank.
  struct environment {
    std::function<std::uint64_t()> own_elements, all_elements;  ///< numbers of elements, of this rank and of all
    std::function<void(const contribution&, int rank)> send_contribution;
    std::function<void(const reduction_result&, int rank)> send_result;
    std::function<void(step_number)> done;  ///< called when all elements have done the step
  };

  reductions(int rank, int ranks, environment with) : rank_(rank), ranks_(ranks), with_(std::move(with)) {}

  /// Begins a reduction, before its step is issued.
  void begin(step_number at, request what);
  /// Adds the value of an element. Calls proceed() once the value is packed, before it counts: it lets the element
  /// advance, or holds it.
  template <class Proceed>
  void contribute(step_number at, element& e, Proceed proceed) {
    const auto to = find(at);
    if (!to) return;  // after a failure
    const key id = e.id;
    std::vector<std::byte> bytes;
    to->what.give(e, bytes);
    proceed();
    add(*to, id, std::move(bytes));
  }
  /// Sends what elements have contributed: when no task of this rank is in progress.
  void flush();
  /// Finishes the reduction if this is the root and all have contributed, or if the result has arrived.
  void try_finish(step_number at);
  void receive(const contribution& of, int sender);
  void receive(const reduction_result& of);

  /// Whether this rank waits for a result.
  bool awaited() const;
  /// Calls use(step, name) for each reduction whose result this rank waits for.
  void for_each_awaited(const std::function<void(step_number, std::string_view)>& use) const;
  /// Drops all reductions and calls their fail().
  void fail(const std::exception_ptr& why);

 private:
  struct pending {
    explicit pending(step_number at) : at(at), what{"collect", 0, {}, {}, {}, {}, false, {}, {}} {}
    const step_number at;
    bool begun = false, finished = false;
    request what;
    packed_values own = {};      ///< not sent yet; all, for take_own
    std::uint64_t reported = 0;  ///< number of own values that the root knows of, for take_own
    packed_values all = {};      ///< on the root
    std::uint64_t kept = 0;      ///< on the root: number of values that stay on their ranks
    // Along a tree:
    std::vector<partial_result> parts = {};      ///< of this rank and those below, not sent yet
    std::vector<partial_result> collected = {};  ///< on the root
    std::set<int> heard = {};                    ///< ranks below that have sent something
    std::uint64_t combined = 0;                  ///< number of own values in parts
    bool sent = false;
    std::optional<std::vector<std::byte>> result = {};

    bool awaited() const { return begun && !result; }
  };
  std::shared_ptr<pending> find(step_number at) const;
  pending& find_or_make(step_number at);
  void add(pending& to, key id, std::vector<std::byte> bytes);
  void send(pending& of);
  void send_parts(pending& of);
  int above(int root) const;
  std::size_t below(int root) const;
  void take(step_number at, std::unique_lock<task::mutex>& lock);

  const int rank_, ranks_;
  const environment with_;
  mutable task::mutex mutex_;  ///< of pending_
  std::map<step_number, std::shared_ptr<pending>> pending_;
  step_number last_begun_ = -1;
};

}  // namespace plaq::elements
