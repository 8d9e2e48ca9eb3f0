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
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balancing.hpp"
#include "plaq/collection/box.hpp"
#include "plaq/collection/explained.hpp"
#include "plaq/collection/homes.hpp"
#include "plaq/collection/port.hpp"
#include "plaq/collection/runtime/host.hpp"
#include "plaq/collection/step_context.hpp"
#include "plaq/task/future.hpp"

namespace plaq {

/// Elements of type T with an index each, distributed over the ranks of a communicator. Every rank makes the same calls
/// in the same order, with functions that do the same; one thread or task of each rank makes them.
///
/// `each` runs a step of every element, as a task. It returns at once, without a barrier: an element begins a step when
/// it has ended the previous one and the messages of the step have arrived. Results do not depend on the number of
/// ranks and workers, on the backend, or on where elements are. The first error, of a step or of MPI, is thrown by
/// every later call on every rank: a runtime_failure with rank, element and step. The destructor waits for all steps,
/// unless there was an error, so it is collective, too.
template <class T, elements::index_type Index = int>
class collection {
  static constexpr bool packs = serializable<T>;
  static_assert(packs,
                "the type of the elements is not serializable: it is default-constructible and movable, and has "
                "void serialize(archive&) or is trivially copyable, without a pointer or view");
  using traits = elements::index_traits<Index>;
  using element = elements::element_of<T>;
  using context_type = step_context<T, Index>;

 public:
  using takes = elements::takes<T, Index>;

  /// Makes the elements, as make(index), at home. Collective. Tasks run on `pool`, which outlives the collection. `of`:
  /// load for balancing; load::time reads a clock twice in each step.
  /// @pre `where` knows its elements beforehand (input_error).
  template <std::invocable<const Index&> Make>
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             Make make, load of = load::time)
      : collection(std::move(name), collection_group(over, pool), std::move(where), std::move(make), of) {}
  /// Makes the elements of a collection of a group, over its communicator.
  template <std::invocable<const Index&> Make>
  collection(std::string name, const collection_group& over, homes<Index> where, Make make, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over.next()) {
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
      : collection(std::move(name), collection_group(over, pool), std::move(where), of) {}
  collection(std::string name, const collection_group& over, homes<Index> where, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over.next()) {
    if (homes_.each_of_rank)
      throw input_error(host_.type().name + ": its elements are fixed; give the function that creates them");
  }

  /// Reads the elements from a checkpoint of a collection of this name, saved on any number of ranks; the next step
  /// follows its last. Ports are made in the same order. Collective.
  /// @pre There is such a checkpoint, it is not damaged, and it has as many elements as `where`, if that knows them
  /// (input_error).
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             const checkpoint& from, load of = load::time)
      : collection(std::move(name), collection_group(over, pool), std::move(where), from, of) {}
  collection(std::string name, const collection_group& over, homes<Index> where, const checkpoint& from,
             load of = load::time)
      : load_(of), homes_(std::move(where)), host_(type_of(std::move(name), over.size()), over.next()) {
    host_.set_total(homes_.count);
    host_.restore(from.folder);
  }

  /// Constructor for arguments that do not fit.
  template <class... Wrong>
    requires(!elements::makes_collection<Index, Wrong...>)
  explicit collection(std::string name, Wrong&&...)
      : collection(std::move(name), elements::explain_collection<Index, Wrong...>(), homes<Index>()) {}

  int rank() const { return host_.rank(); }
  int size() const { return host_.size(); }

  /// Number of steps so far: each, reduce, gather and balance are one.
  std::int64_t steps() const { return host_.steps(); }

  /// Sets how far elements run ahead: none begins a step before all have done the one `steps` before it; 256 by
  /// default. So late elements hold the messages of that many steps at most. `each` and the like wait meanwhile. All
  /// ranks call alike. Messages to handlers are not counted. @pre steps >= 2 (input_error).
  void keep_within(std::int64_t steps) { host_.set_window(steps); }

  /// Makes a port for values of type V. The name is for errors.
  template <serializable V>
  port<T, Index, V> make_port(std::string name) {
    host_.name_port(ports_, std::move(name));
    return port<T, Index, V>(ports_++);
  }

  /// Makes a handler of messages of type V, sent by `context.call`: f(value, context, message, self), where self is the
  /// handler. It runs as soon as no step and no other handler of the element runs, before the next step. Of the
  /// elements of a rank that have such messages the one with the highest priority begins first, then the earliest.
  /// Results that depend on the order of messages depend on chance; wait() returns when all are handled. All ranks make
  /// the same handlers in the same order.
  template <serializable V, class F>
  handler<T, Index, V> on(trace::label name, F f, int priority = 0) {
    const handler<T, Index, V> self(handlers_++, priority);
    constexpr bool handles = requires(T& value, element_context<T, Index>& context, received<Index, V> got) {
      f(value, context, std::move(got), self);
    };
    static_assert(handles, "a handler is called as f(value, context, message, self)");
    if constexpr (handles)
      host_.add_handler({name, [this, f = std::move(f), self](elements::element& e, elements::message& m) mutable {
                           element_context<T, Index> context(e, *this);
                           f(value_of(e), context,
                             received<Index, V>{traits::from_key(m.from), m.value.template take<V>()}, self);
                         }});
    return self;
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
    constexpr bool alone = elements::called_with<F, T>, steps = alone || elements::called_with<F, T, context_type>;
    static_assert(steps, "a step is called as f(value, context) or f(value)");
    if constexpr (steps) issue(name, std::move(what), std::move(f));
  }
  /// Overloads for a call without a name, and for a port without a number of messages.
  template <class F>
  void each(F&&) {
    constexpr bool named = std::is_void_v<F>;
    static_assert(named, "the first argument is the name of the step: each(\"name\", f)");
  }
  template <class V, class F>
  void each(trace::label, port<T, Index, V>, F) {
    constexpr bool counted = !serializable<V>;
    static_assert(counted, "a step takes a number of messages of a port: each(\"name\", port.of(n), f)");
  }

  /// Returns combine(init, t) on every rank, where t is reduce(name, give, combine) in type R, or init where no element
  /// has a value. @pre combine is associative, up to rounding.
  template <class Give, serializable R, class Combine>
  task::future<R> reduce(trace::label name, Give give, R init, Combine combine) {
    auto of = of_elements(std::move(give));
    static_assert(std::is_convertible_v<value_given<decltype(of)>, R>, "give(value) has the type of the start value");
    static_assert(std::is_invocable_r_v<R, Combine&, R, R>, "combine(R, R) returns R, the type of the start value");
    return combine_all<R>(name, std::move(of), combine, [init = std::move(init), combine](auto all) {
      return all ? combine(init, std::move(*all)) : init;
    });
  }

  /// Returns combine(combine(v_0, v_1), combine(v_2, v_3)) and so on over all elements on every rank, with v =
  /// give(value) or give(value, index), after the steps so far. Where give returns a std::optional, elements without a
  /// value are left out: a reduction over a part of the elements. Halves of halves of the places of elements in their
  /// homes fix the brackets, so the result is bitwise identical wherever elements are. A rank combines the values of
  /// elements whose home it is, and parts from at most log2(ranks) others. Without a value the result is V(). Where
  /// elements come and go, the call waits for all steps first. @pre combine is associative, up to rounding.
  template <class Give, class Combine>
  auto reduce(trace::label name, Give give, Combine combine) {
    auto of = of_elements(std::move(give));
    using V = value_given<decltype(of)>;
    static_assert(std::is_invocable_r_v<V, Combine&, V, V>, "combine(V, V) returns V, the type of give(value)");
    return combine_all<V>(name, std::move(of), combine, [](auto all) { return all ? std::move(*all) : V(); });
  }

  /// Returns give(value), or give(value, index), of all elements after the steps so far, with their indices and in
  /// their order; of those that have one, where give returns a std::optional. Empty on other ranks than `root`.
  template <class Give>
  auto gather(trace::label name, Give give, int root = 0) {
    auto of = of_elements(std::move(give));
    using V = value_given<decltype(of)>;
    using all_of_them = std::vector<std::pair<Index, V>>;
    auto promise = std::make_shared<task::promise<all_of_them>>();
    auto all = std::make_shared<all_of_them>();
    auto result = promise->get_future();
    elements::reductions::request what{.name = name, .root = root};
    what.give = packing<V>(std::move(of));
    what.finish = [all](const elements::packed_values& packed) {
      for (auto& [id, bytes] : packed) all->emplace_back(traits::from_key(id), elements::unpack<V>(bytes));
      return elements::reductions::outcome{};
    };
    what.take = [promise, all](auto, auto) { promise->set_value(std::move(*all)); };
    what.fail = [promise](std::exception_ptr why) { promise->set_exception(why); };
    start(std::move(what));
    return result;
  }

  /// Moves elements to less loaded ranks, by the balancer's plan for the loads since the last balancing. The result is
  /// the same on every rank; a rank learns the moves of its own elements. Each element waits until all have reached
  /// this step and the plan is made; nothing else waits. Balancers that use edges get the bytes that elements have sent
  /// in steps after the first balancing by such a balancer. "gossip" and "diffusion" gather no loads on one rank; the
  /// others run on rank 0, and so do all while loads are recorded.
  /// @pre See elements::validate (input_error).
  task::future<balance_result> balance(const balance_options& options = {}) {
    elements::validate(options, load_, elements::mesh_point<Index>);
    const auto& by = plaq::balance::balancer_named(options.by);
    if (by.uses_edges) count_bytes();
    auto promise = std::make_shared<task::promise<balance_result>>();
    auto result = promise->get_future();
    const auto carry_out = [this, promise](elements::migration what) {
      what.result.expected = std::exchange(predicted_, what.result.predicted);
      host_.release(what.moves);
      promise->set_value(what.result);
    };
    elements::reductions::request what{.name = "balance"};
    what.holds = true;
    what.give = packing<elements::element_report>([this](elements::element& e) {
      const auto load = std::exchange(e.load, {});
      return elements::element_report{load_ == plaq::load::time ? load.seconds : load.work,
                                      double(static_cast<element&>(e).size()), host_.seconds_per_byte(), rank(),
                                      load.sent};
    });
    what.fail = [promise](std::exception_ptr why) { promise->set_exception(why); };
    if (by.protocol && !records_) {  // no rank needs all loads
      what.take_own = [=, this, &by, fail = what.fail](elements::step_number at,
                                                       const elements::packed_values& packed) {
        host_.balance(
            at, elements::make_participant(unpack_reports(packed), options, rank(), size()), by.protocol,
            [=](const plaq::balance::participant& p) { carry_out(elements::migration_of(p, options)); }, fail);
      };
    } else {
      what.finish = [this, options](const elements::packed_values& packed) { return plan(packed, options); };
      what.take = [carry_out](std::span<const std::byte> all, std::span<const std::byte> own) {
        elements::migration mine{elements::unpack<balance_result>(all), {}};
        if (!own.empty()) mine.moves = elements::unpack<decltype(mine.moves)>(own);
        carry_out(std::move(mine));
      };
    }
    start(std::move(what));
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
  friend element_context<T, Index>;
  friend step_context<T, Index>;

  elements::element_type type_of(std::string name, int ranks) const {
    return {.name = std::move(name),
            .home = [this, ranks](elements::key k) { return homes_.rank_of(traits::from_key(k), ranks); },
            .make = [](elements::key k) -> std::unique_ptr<elements::element> {
              if constexpr (packs)
                return std::make_unique<element>(k, T{});
              else
                return nullptr;
            },
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

  template <class F>
  void issue(trace::label name, std::vector<takes> what, F f) {
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
      if constexpr (elements::called_with<F, T>) {
        f(value_of(running.of));
      } else {
        context_type context(running, *this);
        f(value_of(running.of), context);
      }
    };
    host_.issue(std::move(next));
  }
  void start(elements::reductions::request what) {
    if (!homes_.each_of_rank) host_.wait();  // which finds the number of elements
    host_.reduce(std::move(what));
  }
  /// Type of the values that give(element) returns, without the std::optional.
  template <class Give>
  using value_given = elements::without_optional<std::decay_t<std::invoke_result_t<Give&, elements::element&>>>;
  /// Returns a function that appends give(element) in type V, if there is a value.
  template <class V, class Give>
  static auto packing(Give give) {
    return [give](elements::element& e, std::vector<std::byte>& to) mutable {
      auto value = give(e);
      if constexpr (elements::is_optional<decltype(value)>) {
        if (value) archive::pack(V(std::move(*value)), to);
        return value.has_value();
      } else {
        archive::pack(V(std::move(value)), to);
        return true;
      }
    };
  }
  /// Combines the values of elements in type V; the result is end(optional<V>), on rank 0.
  template <class V, class Give, class Combine, class End>
  task::future<V> combine_all(trace::label name, Give give, Combine combine, End end) {
    auto promise = std::make_shared<task::promise<V>>();
    auto result = promise->get_future();
    elements::reductions::request what{.name = name};
    what.give = packing<V>(std::move(give));
    what.take = [promise](std::span<const std::byte> all, auto) { promise->set_value(elements::unpack<V>(all)); };
    what.fail = [promise](std::exception_ptr why) { promise->set_exception(why); };
    what.combined.emplace(
        [this](elements::key k) { return homes_.each_of_rank ? position_of(k) : elements::scatter(k); },
        [this](int first, int last) { return places_known(first, last); },
        [combine](std::vector<std::byte>& left, std::span<const std::byte> right) mutable {
          const V sum = combine(elements::unpack<V>(left), elements::unpack<V>(right));
          left.clear();
          archive::pack(sum, left);
        },
        [end](std::optional<std::vector<std::byte>> all) mutable {
          std::vector<std::byte> bytes;
          archive::pack(V(end(all ? std::optional<V>(elements::unpack<V>(*all)) : std::nullopt)), bytes);
          return bytes;
        });
    start(std::move(what));
    return result;
  }
  /// Places whose elements are all at home on ranks first ... last, or are no elements.
  elements::places places_known(int first, int last) const {
    if (homes_.each_of_rank) return {homes_.count};
    if (!homes_.hashes_of_rank) return {1, 0};
    return {homes_.hashes_of_rank(first, size()).first, homes_.hashes_of_rank(last, size()).last};
  }
  /// Plans a migration, on rank 0: the result for all, the moves of its elements for each rank.
  elements::reductions::outcome plan(const elements::packed_values& packed, const balance_options& options) const {
    std::function<std::array<double, 3>(elements::key)> point;
    if (elements::mesh_point<Index>) point = point_of;
    return elements::packed_by_rank(elements::plan_migration(
        unpack_reports(packed), options, size(), [this](auto at) { return position_of(at); }, point, record_.get()));
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
  int ports_ = 0, handlers_ = 0;
  std::atomic<elements::step_number> counts_bytes_from_{std::numeric_limits<elements::step_number>::max()};  ///< a step
  bool records_ = false;
  std::unique_ptr<elements::load_record> record_;
  double predicted_ = balance_result().expected;  ///< by the last balancing
  elements::host host_;                           ///< destroyed first: its tasks use the other members
};

}  // namespace plaq
