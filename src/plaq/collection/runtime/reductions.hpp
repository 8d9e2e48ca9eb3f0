// Reductions over all elements, along a tree of ranks.
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
///
/// Combined values go to the homes of their elements first, where a rank knows how many to expect; each rank combines
/// those of its own, waits for the ranks below it in a binomial tree, and sends the parts up, once. Values that are
/// gathered go up the tree from where they are; many of them go to the root at once.
class reductions {
 public:
  /// Result on the root: for all ranks, and what some ranks get beside.
  struct outcome {
    std::vector<std::byte> bytes = {};
    std::vector<bytes_of_rank> of_ranks = {};
  };
  /// One reduction.
  struct request {
    trace::label name;
    int root = 0;
    /// Appends the value of an element. Returns false if it has none.
    std::function<bool(element&, std::vector<std::byte>& to)> give = {};
    std::function<outcome(packed_values all)> finish = {};  ///< on the root; `all` in the order of keys
    /// Called on every rank with the result, and with what this rank gets beside.
    std::function<void(std::span<const std::byte> all, std::span<const std::byte> own)> take = {};
    std::function<void(std::exception_ptr)> fail = {};  ///< instead of take
    bool holds = false;                                 ///< elements wait for the result; the caller releases them
    bool is_mark = false;                               ///< nobody waits for the result but the window of steps
    /// In place of finish and take: called on every rank with the values of its own elements, once all elements of all
    /// ranks have contributed.
    std::function<void(step_number, packed_values own)> take_own = {};
    /// In place of finish: values are combined in the order of their places. The root is 0.
    struct in_order {
      std::function<place(key)> place_of;
      std::function<places(int first, int last)>
          known;  ///< places whose elements are all at home on ranks first...last
      combine_packed combine;
      std::function<std::vector<std::byte>(std::optional<std::vector<std::byte>> all)>
          end;  ///< on the root; or no value
    };
    std::optional<in_order> combined = {};
  };
  /// Connections to the rest of a rank.
  struct environment {
    std::function<std::uint64_t()> own_elements, all_elements;  ///< numbers of elements, of this rank and of all
    std::function<std::uint64_t()> elements_at_home;            ///< number of elements whose home is this rank
    std::function<int(key)> home;
    std::function<void(const contribution&, int rank)> send_contribution;
    std::function<void(const reduction_result&, int rank)> send_result;
    std::function<void(step_number)> done;  ///< called when all elements have done the step
  };

  reductions(int rank, int ranks, environment with) : rank_(rank), ranks_(ranks), with_(std::move(with)) {}

  /// Begins a reduction, before its step is issued. After fail() it calls what.fail instead.
  void begin(step_number at, request what);
  /// Adds the value of an element. Calls proceed() once the value is packed, before it counts: it lets the element
  /// advance, or holds it.
  template <class Proceed>
  void contribute(step_number at, element& e, Proceed proceed) {
    const auto to = find(at);
    if (!to) return;  // after a failure
    const key id = e.id;
    std::vector<std::byte> bytes;
    const bool any = to->what.give(e, bytes);
    proceed();
    add(*to, id, any, std::move(bytes));
  }
  /// Sends what elements have contributed: when no task of this rank is in progress.
  void flush();
  /// Sends up what is complete; finishes the reduction if this is the root and all have contributed, or if the result
  /// has arrived.
  void proceed(step_number at);
  void receive(const contribution& of, int sender);
  void receive(reduction_result of);

  /// Whether this rank waits for a result.
  bool awaited() const;
  /// Calls use(step, name) for each reduction whose result this rank waits for.
  void for_each_awaited(const std::function<void(step_number, std::string_view)>& use) const;
  /// Drops all reductions and calls their fail(), and that of each reduction that begins later.
  void fail(const std::exception_ptr& why);

 private:
  struct pending {
    explicit pending(step_number at) : at(at), what{.name = "collect"} {}
    const step_number at;
    bool begun = false, finished = false;
    request what;
    std::uint64_t contributed = 0;  ///< number of elements, on this rank
    packed_values own = {};         ///< of elements on this rank, not on their way yet; all, for take_own
    std::map<int, std::uint64_t> own_without = {};  ///< number of elements without a value, by home, not told yet
    packed_values values = {};                      ///< that have come here
    std::vector<partial_result> parts = {};         ///< of the ranks below
    std::uint64_t without = 0;                      ///< number of elements without a value here
    std::set<int> heard = {};                       ///< ranks below that have sent something
    std::uint64_t at_home = 0;                      ///< number of elements to expect, of a combination
    bool own_complete = false, sent = false;
    std::optional<reduction_result> result = {};

    bool awaited() const { return begun && !result && !what.is_mark; }
  };
  std::shared_ptr<pending> find(step_number at) const;
  pending& find_or_make(step_number at);
  void add(pending& to, key id, bool any, std::vector<std::byte> bytes);
  void dispatch(pending& of);
  void send_home(pending& of);
  void send_up(pending& of);
  bool is_complete(const pending& of) const;
  std::vector<partial_result> combine(pending& of, places known) const;
  outcome finish(pending& of) const;
  int above(int root) const;
  int below(int root) const;
  void take(step_number at, std::unique_lock<task::mutex>& lock);

  const int rank_, ranks_;
  const environment with_;
  mutable task::mutex mutex_;  ///< of pending_
  std::map<step_number, std::shared_ptr<pending>> pending_;
  step_number last_begun_ = -1;
  std::exception_ptr failure_ = nullptr;  ///< the first, after fail()
};

}  // namespace plaq::elements
