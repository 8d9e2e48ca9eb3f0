// Collection: objects that own their data, run as data flow over all ranks and move between them.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balancing.hpp"
#include "plaq/collection/box.hpp"
#include "plaq/collection/homes.hpp"
#include "plaq/collection/port.hpp"
#include "plaq/collection/runtime/host.hpp"
#include "plaq/collection/step_context.hpp"
#include "plaq/task/future.hpp"

namespace plaq {

/// Folder that a collection was saved to.
struct checkpoint {
  std::filesystem::path folder;
};

/// Elements of type T with an index each, distributed over the ranks of a communicator. Every rank makes the same calls
/// in the same order, with functions that do the same; one thread or task of each rank makes them.
///
/// `each` runs a step of every element, as a task. It returns at once, without a barrier: an element begins a step when
/// it has ended the previous one and the messages of the step have arrived. Results do not depend on the number of
/// ranks and workers, on the backend, or on where elements are. The first error, of a step or of MPI, is thrown by
/// every later call on every rank: a runtime_failure with rank, element and step.
template <serializable T, elements::index_type Index = int>
class collection {
  using traits = elements::index_traits<Index>;
  using element = elements::element_of<T>;

 public:
  using takes = elements::takes<T, Index>;

  /// Makes the elements, as make(index), at home. Collective. Tasks run on `pool`, which outlives the collection. `of`:
  /// load for balancing; load::time reads a clock twice in each step.
  /// @pre `where` knows its elements beforehand (input_error).
  template <std::invocable<const Index&> Make>
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             Make make, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over, pool) {
    host_.set_total(homes_.count);
    if (!homes_.each_of_rank)
      throw input_error(host_.type().name +
                        ": its elements are not fixed; create it without a function and insert them");
    homes_.each_of_rank([&](const Index& at) { host_.add(std::make_unique<element>(traits::to_key(at), make(at))); },
                        rank(), size());
  }
  /// Makes a collection without elements, which come and go. Collective.
  /// @pre `where` does not know its elements beforehand (input_error).
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over, pool) {
    if (homes_.each_of_rank)
      throw input_error(host_.type().name + ": its elements are fixed; give the function that creates them");
  }

  /// Reads the elements from a checkpoint of a collection of this name, saved on any number of ranks; the next step
  /// follows its last. Ports are made in the same order. Collective.
  /// @pre There is such a checkpoint, it is not damaged, and it has as many elements as `where`, if that knows them
  /// (input_error).
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             const checkpoint& from, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over, pool) {
    host_.set_total(homes_.count);
    host_.restore(from.folder);
  }

  int rank() const { return host_.rank(); }
  int size() const { return host_.size(); }

  /// Number of steps so far: each, reduce, gather and balance are one.
  std::int64_t steps() const { return host_.steps(); }

  /// Makes a port for values of type V. The name is for errors.
  template <serializable V>
  port<T, Index, V> make_port(std::string name) {
    host_.name_port(ports_, std::move(name));
    return port<T, Index, V>(ports_++);
  }

  /// Runs f(value, context), or f(value), for every element.
  template <class F>
  void each(trace::label name, F f) {
    each(name, std::vector<takes>{}, std::move(f));
  }
  /// Runs the step of an element once the messages that it takes have arrived.
  template <class F>
  void each(trace::label name, takes what, F f) {
    each(name, std::vector{std::move(what)}, std::move(f));
  }
  template <class F>
  void each(trace::label name, std::vector<takes> what, F f) {
    static_assert(std::invocable<F&, T&, step_context<T, Index>&> || std::invocable<F&, T&>,
                  "a step is called as f(value, context) or f(value)");
    auto next = std::make_unique<elements::step>(name);
    for (takes& one : what) {
      if (std::ranges::count(next->receives, one.port, &elements::receive::port) > 0)
        throw input_error(host_.type().name + ": step '" + std::string(name.view()) + "' names a port twice");
      next->receives.push_back({one.port, one.count});
      if (one.count_of)
        next->receives.back().count_of = [count = std::move(one.count_of)](const elements::element& e) {
          return count(value_of(e), traits::from_key(e.id));
        };
    }
    next->run = [this, f = std::move(f)](elements::running_step& running) mutable {
      if constexpr (std::invocable<F&, T&>) {
        f(value_of(running.of));
      } else {
        step_context<T, Index> context(running, *this);
        f(value_of(running.of), context);
      }
    };
    host_.issue(std::move(next));
  }

  /// Returns combine(... combine(combine(init, v_a), v_b) ...) on every rank, with v = give(value), or give(value,
  /// index), after the steps so far, in the order of indices (the last coordinate first): bitwise identical wherever
  /// elements are. Elements do not wait for it. Where elements come and go, the call waits for all steps first.
  template <class Give, serializable R, class Combine>
  task::future<R> reduce(trace::label name, Give give, R init, Combine combine) {
    auto promise = std::make_shared<task::promise<R>>();
    auto result = promise->get_future();
    auto of = of_elements(std::move(give));
    using V = std::decay_t<decltype(of(std::declval<elements::element&>()))>;
    collect<V>(
        name, std::move(of), 0,
        [init = std::move(init), combine](const elements::packed_values& packed) {
          R sum = init;
          for (auto& [at, v] : unpacked<V>(packed)) sum = combine(std::move(sum), std::move(v));
          std::vector<std::byte> bytes;
          archive::pack(sum, bytes);
          return bytes;
        },
        [promise](std::span<const std::byte> bytes) { promise->set_value(elements::unpack<R>(bytes)); },
        [promise](std::exception_ptr why) { promise->set_exception(why); });
    return result;
  }

  /// Returns combine(combine(v_0, v_1), combine(v_2, v_3)) and so on over all elements on every rank, with v =
  /// give(value) or give(value, index), after the steps so far. A balanced binary tree over the places of elements in
  /// their homes fixes the brackets, so the result is bitwise identical wherever elements are. A rank combines its own
  /// elements, and receives parts from at most log2(ranks) others. Without elements the result is V().
  /// @pre combine is associative, up to rounding.
  template <class Give, class Combine>
  auto reduce(trace::label name, Give give, Combine combine) {
    auto of = of_elements(std::move(give));
    using V = std::decay_t<decltype(of(std::declval<elements::element&>()))>;
    static_assert(std::is_invocable_r_v<V, Combine&, V, V>, "combine(V, V) returns V, the type of give(value)");
    auto promise = std::make_shared<task::promise<V>>();
    auto result = promise->get_future();
    const auto take = [promise](std::span<const std::byte> bytes) { promise->set_value(elements::unpack<V>(bytes)); };
    const auto fail = [promise](std::exception_ptr why) { promise->set_exception(why); };
    if (!homes_.each_of_rank) {  // places are not known: the root combines all in the order of indices
      collect<V>(
          name, std::move(of), 0,
          [combine](const elements::packed_values& packed) {
            auto all = unpacked<V>(packed);
            V sum = all.empty() ? V() : std::move(all.front().second);
            for (std::size_t i = 1; i < all.size(); ++i) sum = combine(std::move(sum), std::move(all[i].second));
            std::vector<std::byte> bytes;
            archive::pack(sum, bytes);
            return bytes;
          },
          take, fail);
      return result;
    }
    elements::reductions::request what{
        .name = name,
        .give = [of](elements::element& e, std::vector<std::byte>& to) mutable { archive::pack(V(of(e)), to); },
        .finish = {},
        .take = take,
        .fail = fail};
    what.tree.emplace([this](elements::key k) { return position_of(k); }, homes_.count,
                      [combine](std::vector<std::byte>& left, std::span<const std::byte> right) {
                        const V sum = combine(elements::unpack<V>(left), elements::unpack<V>(right));
                        left.clear();
                        archive::pack(sum, left);
                      });
    archive::pack(V(), what.tree->of_none);
    host_.reduce(std::move(what));
    return result;
  }

  /// Returns give(value), or give(value, index), of all elements after the steps so far, with their indices and in
  /// their order. Empty on other ranks than `root`.
  template <class Give>
  auto gather(trace::label name, Give give, int root = 0) {
    auto of = of_elements(std::move(give));
    using V = std::decay_t<decltype(of(std::declval<elements::element&>()))>;
    using all_of_them = std::vector<std::pair<Index, V>>;
    auto promise = std::make_shared<task::promise<all_of_them>>();
    auto all = std::make_shared<all_of_them>();
    auto result = promise->get_future();
    collect<V>(
        name, std::move(of), root,
        [all](const elements::packed_values& packed) {
          *all = unpacked<V>(packed);
          return std::vector<std::byte>();
        },
        [promise, all](std::span<const std::byte>) { promise->set_value(std::move(*all)); },
        [promise](std::exception_ptr why) { promise->set_exception(why); });
    return result;
  }

  /// Moves elements to less loaded ranks, by the balancer's plan for the loads since the last balancing. The result is
  /// the same on every rank. Each element waits until all have reached this step and the plan is made; nothing else
  /// waits. Balancers that use edges get the bytes that elements have sent in steps after the first balancing by such a
  /// balancer. "gossip" and "diffusion" gather no loads on one rank; the others run on rank 0, and so do all while
  /// loads are recorded.
  /// @pre See elements::validate (input_error).
  task::future<balance_result> balance(const balance_options& options = {}) {
    elements::validate(options, load_, elements::mesh_point<Index>);
    const auto& by = plaq::balance::balancer_named(options.by);
    if (by.uses_edges) count_bytes();
    auto promise = std::make_shared<task::promise<balance_result>>();
    auto result = promise->get_future();
    const auto report = [this](elements::element& e) {
      const auto load = std::exchange(e.load, {});
      return elements::element_report{load_ == plaq::load::time ? load.seconds : load.work,
                                      double(archive::size(value_of(e))), host_.seconds_per_byte(), rank(), load.sent};
    };
    const auto carry_out = [this, promise](elements::migration what) {
      what.result.expected = std::exchange(predicted_, what.result.predicted);
      const std::unordered_map<elements::key, int> moves(what.moves.begin(), what.moves.end());
      host_.release([&](elements::key id) {
        const auto found = moves.find(id);
        return found == moves.end() ? rank() : found->second;
      });
      promise->set_value(what.result);
    };
    const auto fail = [promise](std::exception_ptr why) { promise->set_exception(why); };
    if (by.protocol && !records_) {  // no rank needs all loads
      if (!homes_.each_of_rank) host_.wait();
      host_.reduce(
          {.name = "balance",
           .give = [report](elements::element& e, std::vector<std::byte>& to) { archive::pack(report(e), to); },
           .finish = {},
           .take = {},
           .fail = fail,
           .holds = true,
           .take_own =
               [=, this, &by](elements::step_number at, const elements::packed_values& packed) {
                 host_.balance(
                     at, elements::make_participant(unpack_reports(packed), options, rank(), size()), by.protocol,
                     [=](const plaq::balance::participant& p) { carry_out(elements::migration_of(p, options)); }, fail);
               }});
      return result;
    }
    collect<elements::element_report>(
        "balance", report, 0,
        [this, options](const elements::packed_values& packed) {
          std::vector<std::byte> bytes;
          std::function<std::array<double, 3>(elements::key)> point;
          if (elements::mesh_point<Index>) point = point_of;
          archive::pack(elements::plan_migration(
                            unpack_reports(packed), options, size(), [this](auto at) { return position_of(at); }, point,
                            record_.get()),
                        bytes);
          return bytes;
        },
        [=](std::span<const std::byte> bytes) { carry_out(elements::unpack<elements::migration>(bytes)); }, fail, true);
    return result;
  }

  /// Records the loads and plan of every later balancing: rank 0 writes a file, which `plaq balance` replays by any
  /// balancer on any number of ranks. To move nothing meanwhile, balance by "none". Counts the bytes that elements
  /// send. Throws runtime_failure if the file cannot be written.
  void record_loads(const std::filesystem::path& file) {
    count_bytes();
    records_ = true;
    if (rank() == 0)
      record_ = std::make_unique<elements::load_record>(file, host_.type().name, load_ == load::time ? "s" : "work");
  }

  /// Returns when every element of every rank has done all steps, and no message is in progress. Collective. A deadlock
  /// is a runtime_failure that names the waiting element and the message.
  void wait() { host_.wait(); }

  /// Waits, and writes all elements, with the messages that they have not taken, to the folder. Replaces the checkpoint
  /// of this name there; after any error one of the two is complete.
  void save(const std::filesystem::path& folder) { host_.save(folder); }

  /// Moves every element home, and waits.
  void come_home() {
    each("come home", [this](T&, auto& context) { context.move_to(homes_.rank_of(context.index(), size())); });
    wait();
  }

  // Between wait() and the next step:

  /// Calls use(index, value) for the elements of this rank, in the order of indices.
  template <class Use>
  void each_local(Use use) {
    host_.for_each([&](elements::element& e) { use(traits::from_key(e.id), value_of(e)); });
  }
  /// Inserts an element; any rank, but only one, calls. @pre Elements come and go, and there is none of this index
  /// (input_error).
  void insert(const Index& at, T value) {
    host_.insert(std::make_unique<element>(traits::to_key(at), std::move(value)), host_.steps());
  }

  /// Number of elements that have moved away from this rank.
  std::uint64_t moved() const { return host_.moved(); }
  /// Number of messages that this rank has forwarded to moved elements.
  std::uint64_t forwarded() const { return host_.forwarded(); }

 private:
  friend step_context<T, Index>;

  elements::element_type type_of(std::string name, int ranks) const {
    return {.name = std::move(name),
            .home = [this, ranks](elements::key k) { return homes_.rank_of(traits::from_key(k), ranks); },
            .make = [](elements::key k) { return std::make_unique<element>(k, T{}); },
            .in_words = [](elements::key k) { return traits::in_words(traits::from_key(k)); },
            .progress = progress(),
            .fixed = bool(homes_.each_of_rank),
            .measures = load_ == load::time};
  }
  /// Returns the function `moment` of values that have one: errors report it in place of the step.
  static std::function<std::string(const elements::element&)> progress() {
    if constexpr (requires(const T& v) { std::string(v.moment()); })
      return [](const elements::element& e) { return value_of(e).moment(); };
    else
      return {};
  }
  static T& value_of(elements::element& e) { return static_cast<element&>(e).value; }
  static const T& value_of(const elements::element& e) { return static_cast<const element&>(e).value; }
  void need(const Index& at) const {
    if (homes_.holds && !homes_.holds(at))
      throw input_error(host_.type().name + " has no element (" + traits::in_words(at) + ")");
  }

  template <class V, class Give, class Finish, class Take, class Fail>
  void collect(trace::label name, Give give, int root, Finish finish, Take take, Fail fail, bool holds = false) {
    if (!homes_.each_of_rank) host_.wait();  // which finds their number
    host_.reduce(
        {.name = name,
         .root = root,
         .give = [give](elements::element& e, std::vector<std::byte>& to) mutable { archive::pack(V(give(e)), to); },
         .finish = finish,
         .take = take,
         .fail = fail,
         .holds = holds});
  }
  template <class V>
  static std::vector<std::pair<Index, V>> unpacked(const elements::packed_values& packed) {
    std::vector<std::pair<Index, V>> all;
    for (auto& [id, bytes] : packed) all.emplace_back(traits::from_key(id), elements::unpack<V>(bytes));
    return all;
  }
  static elements::element_reports unpack_reports(const elements::packed_values& packed) {
    elements::element_reports all;
    for (auto& [id, bytes] : packed) all.emplace_back(id, elements::unpack<elements::element_report>(bytes));
    return all;
  }
  /// Returns a function of an element that calls give(value) or give(value, index).
  template <class Give>
  static auto of_elements(Give give) {
    return [give](elements::element& e) {
      const T& value = value_of(e);
      if constexpr (std::invocable<const Give&, const T&, const Index&>)
        return give(value, traits::from_key(e.id));
      else
        return give(value);
    };
  }

  std::uint64_t position_of(elements::key k) const { return homes_.position(traits::from_key(k)); }
  static std::array<double, 3> point_of(elements::key k) {
    std::array<double, 3> out{};
    if constexpr (elements::mesh_point<Index>) std::ranges::copy(traits::point(traits::from_key(k)), out.begin());
    return out;
  }

  /// Counts bytes in later steps. In steps in progress the count would depend on their progress.
  void count_bytes() { counts_bytes_from_ = std::min(counts_bytes_from_.load(), host_.steps()); }

  const load load_;
  homes<Index> homes_;
  int ports_ = 0;
  std::atomic<elements::step_number> counts_bytes_from_{std::numeric_limits<elements::step_number>::max()};  ///< a step
  bool records_ = false;
  std::unique_ptr<elements::load_record> record_;
  double predicted_ = balance_result().expected;  ///< by the last balancing
  elements::host host_;                           ///< destroyed first: its tasks use the other members
};

}  // namespace plaq
