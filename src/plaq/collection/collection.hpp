// Objects that own their data, run as data flow over all ranks and move between them.
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
#include "plaq/collection/here.hpp"
#include "plaq/collection/homes.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/port.hpp"
#include "plaq/task/future.hpp"

namespace plaq {

/// A folder that a collection was saved to.
struct saved {
  std::filesystem::path folder;
};

/// Elements of type T with an index each, spread over the ranks of a communicator. Every rank makes the same calls
/// in the same order, with functions that do the same; one thread or task of each rank makes them.
///
/// `each` lets every element do a step, as a task. It returns at once, and nothing waits for the machine: an
/// element begins a step when it has done the one before and the messages that the step takes are here. Results
/// depend neither on ranks, workers and back end nor on where elements are or move. The first error, of a step or
/// of MPI, is the job's: every call throws it on every rank, a runtime_failure with rank, element and step.
template <serializable T, elements::index_type Index = int>
class collection {
  using traits = elements::index_traits<Index>;
  using element = elements::element_of<T>;

 public:
  using takes = elements::takes<T, Index>;

  /// Collective. Elements begin at home, as make(index). Tasks run on `pool`, which outlives this. `of`: what
  /// loads are, for balancing; to measure the time costs two readings of a clock in each step.
  template <std::invocable<const Index&> Make>
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             Make make, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(kind_of(std::move(name), over.size()), over, pool) {
    host_.set_of_all(homes_.count);
    if (!homes_.each_of_rank) throw input_error(host_.what().name + ": its elements come and go, so insert them");
    homes_.each_of_rank([&](const Index& at) { host_.add(std::make_unique<element>(traits::to_key(at), make(at))); },
                        rank(), size());
  }
  /// Without elements, for those that come and go.
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             load of = load::time)
      : load_(of), homes_(std::move(where)), host_(kind_of(std::move(name), over.size()), over, pool) {
    if (homes_.each_of_rank) throw input_error(host_.what().name + ": its elements are given, so say what they are");
  }

  /// With the elements of a checkpoint that a collection of this name has saved, on any number of ranks; the next
  /// step follows those that it had done. Ports are made in the same order. Throws input_error where there is
  /// none, runtime_failure where it is damaged.
  collection(std::string name, const comm::communicator& over, task::detail::pool_base& pool, homes<Index> where,
             const saved& from, load of = load::time)
      : load_(of), homes_(std::move(where)), host_(kind_of(std::move(name), over.size()), over, pool) {
    host_.set_of_all(homes_.count);
    host_.restore(from.folder);
  }

  int rank() const { return host_.rank(); }
  int size() const { return host_.size(); }

  /// How many there have been: each, reduce, gather and balance are one.
  std::int64_t steps() const { return host_.steps(); }

  /// A port for values of type V. The name is for errors.
  template <serializable V>
  port<T, Index, V> make_port(std::string name) {
    host_.name_port(ports_, std::move(name));
    return port<T, Index, V>(ports_++);
  }

  /// Every element does f(value, here), or f(value).
  template <class F>
  void each(trace::label name, F f) {
    each(name, std::vector<takes>{}, std::move(f));
  }
  /// Once the messages are here that the step takes.
  template <class F>
  void each(trace::label name, takes what, F f) {
    each(name, std::vector{std::move(what)}, std::move(f));
  }
  template <class F>
  void each(trace::label name, std::vector<takes> what, F f) {
    static_assert(std::invocable<F&, T&, here<T, Index>&> || std::invocable<F&, T&>,
                  "a step is called as f(value, here) or f(value)");
    auto next = std::make_unique<elements::step>(name);
    for (takes& one : what)
      next->receives.push_back({one.port, [count = std::move(one.count)](const elements::element& e) {
                                  return count(value_of(e), traits::from_key(e.at));
                                }});
    next->run = [this, f = std::move(f)](elements::element& e, elements::visit& of) mutable {
      if constexpr (std::invocable<F&, T&>) {
        f(value_of(e));
      } else {
        here<T, Index> now(of, *this);
        f(value_of(e), now);
      }
    };
    host_.issue(std::move(next));
  }

  /// combine(... combine(combine(init, v_a), v_b) ...) of what give(value), or give(value, index), is after the
  /// steps so far, in the order of indices (the last coordinate first): the same bits wherever elements are. On
  /// every rank; the elements do not wait for it. Where elements come and go, the call waits for all steps first.
  template <class Give, serializable R, class Combine>
  task::future<R> reduce(trace::label name, Give give, R init, Combine combine) {
    auto together = std::make_shared<task::promise<R>>();
    auto result = together->get_future();
    auto of = of_elements(std::move(give));
    using V = std::decay_t<decltype(of(std::declval<elements::element&>()))>;
    collect<V>(
        name, std::move(of), 0,
        [init = std::move(init), combine](const elements::given& packed) {
          R sum = init;
          for (auto& [at, v] : unpacked<V>(packed)) sum = combine(std::move(sum), std::move(v));
          std::vector<std::byte> bytes;
          archive::pack(sum, bytes);
          return bytes;
        },
        [together](std::span<const std::byte> bytes) { together->set_value(elements::unpack<R>(bytes)); },
        [together](std::exception_ptr why) { together->set_exception(why); });
    return result;
  }

  /// What give(value), or give(value, index), is after the steps so far, with its index and in their order; on
  /// `root`, nothing elsewhere.
  template <class Give>
  auto gather(trace::label name, Give give, int root = 0) {
    auto of = of_elements(std::move(give));
    using V = std::decay_t<decltype(of(std::declval<elements::element&>()))>;
    using all_of_them = std::vector<std::pair<Index, V>>;
    auto together = std::make_shared<task::promise<all_of_them>>();
    auto there = std::make_shared<all_of_them>();
    auto result = together->get_future();
    collect<V>(
        name, std::move(of), root,
        [there](const elements::given& packed) {
          *there = unpacked<V>(packed);
          return std::vector<std::byte>();
        },
        [together, there](std::span<const std::byte>) { together->set_value(std::move(*there)); },
        [together](std::exception_ptr why) { together->set_exception(why); });
    return result;
  }

  /// Moves elements to where there is time, as a balancer says by what they did since the last balancing. Its
  /// result is the same on every rank. Each element waits until all have come here and it is decided; nothing else
  /// does. Balancers that look at edges get the bytes that elements have sent in steps after the first balancing by
  /// such a one. "gossip" and "diffusion" bring no loads to one rank; the others are asked on rank 0, and so are all
  /// while loads are recorded.
  task::future<balanced> balance(const balancing& how = {}) {
    elements::need_sound(how, load_, elements::mesh_point<Index>);
    const auto& by = plaq::balance::balancer_named(how.by);
    if (by.looks_at_edges) count_bytes();
    auto came_to = std::make_shared<task::promise<balanced>>();
    auto result = came_to->get_future();
    const auto report = [this](elements::element& e) {
      const auto spent = std::exchange(e.spent, {});
      return elements::report{load_ == load::time ? spent.seconds : spent.work, double(archive::size(value_of(e))),
                              host_.seconds_per_byte(), rank(), spent.sent};
    };
    const auto carry_out = [this, came_to](elements::decision what) {
      what.came_to.expected = std::exchange(predicted_, what.came_to.predicted);
      const std::unordered_map<elements::key, int> moves(what.moves.begin(), what.moves.end());
      host_.release([&](elements::key at) {
        const auto found = moves.find(at);
        return found == moves.end() ? rank() : found->second;
      });
      came_to->set_value(what.came_to);
    };
    const auto fail = [came_to](std::exception_ptr why) { came_to->set_exception(why); };
    if (by.by_talk && !records_) {  // no rank need know all
      if (!homes_.each_of_rank) host_.wait();
      host_.collect(
          {.name = "balance",
           .give = [report](elements::element& e, std::vector<std::byte>& to) { archive::pack(report(e), to); },
           .finish = {},
           .take = {},
           .fail = fail,
           .holds = true,
           .take_own =
               [=, this, &by](elements::number at, const elements::given& packed) {
                 std::vector<std::pair<elements::key, elements::report>> mine;
                 for (auto& [who, bytes] : packed) mine.emplace_back(who, elements::unpack<elements::report>(bytes));
                 host_.converse(
                     at, elements::talk_of(mine, how, rank(), size()), by.by_talk,
                     [=](const plaq::balance::talk& t) { carry_out(elements::decided(t, how)); }, fail);
               }});
      return result;
    }
    collect<elements::report>(
        "balance", report, 0,
        [this, how](elements::given packed) {
          std::vector<std::pair<elements::key, elements::report>> all;
          for (auto& [at, bytes] : packed) all.emplace_back(at, elements::unpack<elements::report>(bytes));
          std::vector<std::byte> bytes;
          std::function<std::array<double, 3>(elements::key)> point;
          if (elements::mesh_point<Index>) point = point_of;
          archive::pack(elements::decide(
                            all, how, size(), [this](auto at) { return position_of(at); }, point, record_.get()),
                        bytes);
          return bytes;
        },
        [=](std::span<const std::byte> bytes) { carry_out(elements::unpack<elements::decision>(bytes)); }, fail, true);
    return result;
  }

  /// From now on rank 0 writes what every balancing knew and said to a file, which `plaq balance` replays by any
  /// balancer on any number of ranks; to move nothing meanwhile, balance by "none". Counts the bytes that elements
  /// send.
  void record_loads(const std::filesystem::path& file) {
    count_bytes();
    records_ = true;
    if (rank() == 0)
      record_ = std::make_unique<elements::load_record>(file, host_.what().name, load_ == load::time ? "s" : "work");
  }

  /// Returns when every element of every rank has done all steps, and no message is under way. Throws
  /// runtime_failure that names an element if that cannot come to be: because it waits for a message that nobody
  /// has sent, or has one for it.
  void wait() { host_.wait(); }

  /// Waits, and writes all elements, with the messages that they have not taken, to the folder, where they take
  /// the place of what was saved there under this name. Whatever goes wrong, one of the two stays whole.
  void save(const std::filesystem::path& folder) { host_.save(folder); }

  /// Waits, with every element at home.
  void come_home() {
    each("come home", [this](T&, auto& here) { here.move_to(homes_.rank_of(here.index(), size())); });
    wait();
  }

  // Between wait() and the next step:

  /// Calls use(index, value) for the elements that are on this rank, in the order of indices.
  template <class Use>
  void each_here(Use use) {
    host_.each_here([&](elements::element& e) { use(traits::from_key(e.at), value_of(e)); });
  }
  /// An element more, of a collection whose elements come and go; any rank, but only one, says so.
  void insert(const Index& at, T value) {
    host_.insert(std::make_unique<element>(traits::to_key(at), std::move(value)), host_.steps());
  }

  /// Of this rank: elements that left it, and messages that went on to where their element had gone.
  std::uint64_t moved() const { return host_.moved(); }
  std::uint64_t forwarded() const { return host_.forwarded(); }

 private:
  friend here<T, Index>;

  elements::kind kind_of(std::string name, int ranks) const {
    return {.name = std::move(name),
            .home = [this, ranks](elements::key k) { return homes_.rank_of(traits::from_key(k), ranks); },
            .make = [](elements::key k) { return std::make_unique<element>(k, T{}); },
            .in_words = [](elements::key k) { return traits::in_words(traits::from_key(k)); },
            .moment = moment(),
            .fixed = bool(homes_.each_of_rank),
            .measures = load_ == load::time};
  }
  /// Values with a function `moment` say in which words errors tell when they were.
  static std::function<std::string(const elements::element&)> moment() {
    if constexpr (requires(const T& v) { std::string(v.moment()); })
      return [](const elements::element& e) { return value_of(e).moment(); };
    else
      return {};
  }
  static T& value_of(elements::element& e) { return static_cast<element&>(e).value; }
  static const T& value_of(const elements::element& e) { return static_cast<const element&>(e).value; }
  void need(const Index& at) const {
    if (homes_.holds && !homes_.holds(at))
      throw input_error(host_.what().name + " has no element (" + traits::in_words(at) + ")");
  }

  template <class V, class Give, class Finish, class Take, class Fail>
  void collect(trace::label name, Give give, int root, Finish finish, Take take, Fail fail, bool holds = false) {
    if (!homes_.each_of_rank) host_.wait();  // how many there are is known when all is quiet
    host_.collect(
        {.name = name,
         .root = root,
         .give = [give](elements::element& e, std::vector<std::byte>& to) mutable { archive::pack(V(give(e)), to); },
         .finish = finish,
         .take = take,
         .fail = fail,
         .holds = holds});
  }
  template <class V>
  static std::vector<std::pair<Index, V>> unpacked(const elements::given& packed) {
    std::vector<std::pair<Index, V>> all;
    for (auto& [at, bytes] : packed) all.emplace_back(traits::from_key(at), elements::unpack<V>(bytes));
    return all;
  }
  /// give(value) or give(value, index), of an element.
  template <class Give>
  static auto of_elements(Give give) {
    return [give](elements::element& e) {
      const T& value = value_of(e);
      if constexpr (std::invocable<const Give&, const T&, const Index&>)
        return give(value, traits::from_key(e.at));
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

  /// In the steps that are still to come: in those under way it would depend on how far they are.
  void count_bytes() { counts_bytes_from_ = std::min(counts_bytes_from_.load(), host_.steps()); }

  const load load_;
  homes<Index> homes_;
  int ports_ = 0;
  std::atomic<elements::number> counts_bytes_from_{std::numeric_limits<elements::number>::max()};  ///< a step
  bool records_ = false;
  std::unique_ptr<elements::load_record> record_;
  double predicted_ = balanced().expected;  ///< by the last balancing
  elements::host host_;                     ///< destroyed first: its tasks use all this
};

}  // namespace plaq
