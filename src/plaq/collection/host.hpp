// The elements of one rank: who is here, what they do next, and where those are that have left. Knows nothing of what
// elements hold.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plaq/collection/conversation.hpp"
#include "plaq/collection/letters.hpp"
#include "plaq/comm/messages/active_messages.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/pool.hpp"
#include "plaq/task/sync.hpp"
#include "plaq/trace/subject.hpp"

namespace plaq::elements {

/// The value of a message: as it was given, within a rank, or packed.
class payload {
 public:
  virtual ~payload() = default;
  virtual void pack(std::vector<std::byte>& to) const = 0;
};
template <class V>
struct typed final : payload {
  explicit typed(V&& v) : value(std::move(v)) {}
  void pack(std::vector<std::byte>& to) const override { archive::pack(value, to); }
  V value;
};
struct packed final : payload {
  explicit packed(std::span<const std::byte> from) : bytes(from.begin(), from.end()) {}
  void pack(std::vector<std::byte>& to) const override { to.insert(to.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::byte> bytes;
};

/// From one element to another, by a port, sent in one step and taken in a later one.
struct message {
  int port = 0;
  std::uint32_t order = 0;  ///< among those of its sender and step
  number step = 0;          ///< that it was sent in
  key from = 0;
  std::unique_ptr<payload> value = {};
};

struct element;
class visit;
class host;

/// So many messages of a port, all that were sent since the element took from it before.
struct receive {
  int port;
  std::function<std::size_t(const element&)> count;
};

/// What every element does once.
struct step {
  trace::label name;
  std::function<void(element&, visit&)> run = {};
  std::vector<receive> receives = {};
  bool collects = false;
  bool holds = false;  ///< the elements wait for what becomes of the collect
  number at = -1;
  std::atomic<step*> next = nullptr;
};

/// What an element did since the last balancing.
struct effort {
  double seconds = 0;                             ///< of processor time
  double work = 0;                                ///< as it counted itself
  std::vector<std::pair<key, double>> sent = {};  ///< bytes, where they are counted
  void serialize(archive& ar) { ar(seconds, work, sent); }
};

/// One element. While it runs it belongs to its task, otherwise to the shard that it is in.
struct element {
  explicit element(key at) : at(at) {}
  virtual ~element() = default;
  virtual void pack_value(std::vector<std::byte>& to) const = 0;
  virtual void unpack_value(comm::unpacker& from) = 0;

  enum class state : char { at_end, waits, held, runs };

  const key at;
  state now = state::runs;
  std::int64_t moves = 0;  ///< how often it has moved; who knows of more knows better where it is
  number next = 0;         ///< the number of its next step
  step* last = nullptr;    ///< the one before
  step* waits_for = nullptr;
  struct mail {
    std::size_t expected, here;
  };
  std::vector<mail> mails = {};          ///< for each of the step's receives
  std::size_t lacking = 0;               ///< how many of them are not complete
  std::vector<message> inbox = {};       ///< that no step has taken
  std::vector<number> taken_until = {};  ///< by port: what was sent before has been taken
  effort spent = {};
  std::optional<trace::subject> name = {};  ///< for traces, from its first recorded step on this rank
};

/// A step of an element.
class visit {
 public:
  visit(host& of, element& who, const step& now) : of_(of), who_(who), now_(now) {}

  std::vector<message> received = {};  ///< by port, then sender, then order
  int go_to = -1;
  bool goes = false;  ///< for good

  void send(int port, key to, std::unique_ptr<payload> value);
  void count_bytes(key to, double bytes);
  host& of() const { return of_; }
  element& who() const { return who_; }
  const step& now() const { return now_; }

 private:
  host& of_;
  element& who_;
  const step& now_;
  std::uint32_t sent_ = 0;
};

/// How the elements of a host are made, found and named.
struct kind {
  std::string name;
  std::function<int(key)> home;                       ///< a rank
  std::function<std::unique_ptr<element>(key)> make;  ///< to be unpacked
  std::function<std::string(key)> in_words;
  std::function<std::string(const element&)> moment;  ///< where it is in its work, or nothing: then steps are counted
  bool fixed = true;                                  ///< elements neither come nor go
  bool measures = true;                               ///< the processor time of their steps
};

/// See collection.hpp, whose calls are made of these. Collective: constructor, issue, collect, wait; one thread at a
/// time makes them. After a failure, of whichever rank, all of them throw it.
class host {
 public:
  /// Something of every element, brought together.
  struct gathering {
    trace::label name;
    int root = 0;
    std::function<void(element&, std::vector<std::byte>& to)> give;
    std::function<std::vector<std::byte>(given all)> finish;  ///< on the root; `all` in the order of keys
    std::function<void(std::span<const std::byte>)> take;     ///< on every rank
    std::function<void(std::exception_ptr)> fail;             ///< instead of take
    bool holds = false;
    /// In place of finish and take: on every rank, what its own elements gave, once all elements of all ranks have.
    std::function<void(number at, given mine)> take_own = {};
  };

  host(kind of, const comm::communicator& over, task::detail::pool_base& pool);
  ~host();
  host(const host&) = delete;

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }
  const kind& what() const { return kind_; }
  task::detail::pool_base& pool() const { return pool_; }

  /// An element that begins with the next step. Others send to it by way of its home, so it is there, or was moved
  /// before.
  void add(std::unique_ptr<element> fresh);
  /// Where elements come and go: begins with step `next`, at home.
  void insert(std::unique_ptr<element> fresh, number next);
  void issue(std::unique_ptr<step> next);
  void collect(gathering what);
  /// Returns when every element of every rank has done all steps and no message is under way.
  void wait();

  /// Calls use(element) for those here, in the order of keys. Between wait() and the next step only.
  void each_here(const std::function<void(element&)>& use);
  /// Lets the elements go on that a collect holds; those for which to() gives another rank go there.
  void release(const std::function<int(key)>& to);
  /// From take_own of a collect that holds: this rank's part of a balancing without a rank that knows all. All ranks
  /// do the same; over() or fail() is called at the end.
  void converse(number at, balance::talk mine, balance::method by, conversation::done over,
                std::function<void(std::exception_ptr)> fail);
  void send(message what, key to);

  /// Collective: see checkpoint.cpp. Restores into a host without elements.
  void save(const std::filesystem::path& folder);
  void restore(const std::filesystem::path& folder);

  /// How many there are on all ranks, as of the last wait() where they come and go.
  std::uint64_t of_all() const { return of_all_; }
  void set_of_all(std::uint64_t n) { of_all_ = n; }
  number steps() const { return issued_; }
  /// What errors call a port.
  void name_port(int port, std::string name);
  /// Moves from here, and messages that went on from here to where their receiver had gone.
  std::uint64_t moved() const { return moved_; }
  /// What moves from and to here have cost for each byte of theirs so far.
  double seconds_per_byte() const { return moved_bytes_ > 0 ? moving_seconds_ / moved_bytes_ : 0; }
  std::uint64_t forwarded() const { return forwarded_; }

  static void pack(const element& what, std::vector<std::byte>& to);
  std::unique_ptr<element> unpack(comm::unpacker& from) const;

 private:
  /// Of an element that its home does not know yet.
  static constexpr std::int64_t is_new = -2;

  /// A rank, and after how many moves of the element.
  struct whereabouts {
    int rank;
    std::int64_t moves;
  };
  struct alignas(64) shard {
    task::detail::spin_lock guard;
    std::unordered_map<key, std::unique_ptr<element>> here;
    std::unordered_map<key, whereabouts> elsewhere;
    std::unordered_map<key, std::vector<message>> held;  ///< until their element comes
  };
  /// A collect that is under way.
  struct pending {
    explicit pending(number at) : at(at), what{"collect", 0, {}, {}, {}, {}, false, {}} {}
    const number at;
    bool issued = false, finished = false;
    gathering what;
    given mine = {};         ///< not sent yet; all, where it stays
    std::uint64_t told = 0;  ///< how many of those that stay
    given all = {};          ///< on the root
    std::uint64_t many = 0;  ///< on the root: how many stay
    std::optional<std::vector<std::byte>> came = {};
  };

  shard& shard_of(key k);
  whereabouts known(const shard& in, key k) const;
  std::string words_of(key k) const { return kind_.name + " (" + kind_.in_words(k) + ")"; }
  template <class Work>
  void guarded(Work&& work) noexcept;

  // What elements do: steps.cpp
  void advance(element& e);
  void start(element& e, step& now);
  void run(element& e, step& now);
  bool accept(element& e, message&& what);
  [[noreturn]] void too_many(const element& e, const message& what) const;
  void take_messages(element& e, const step& now, std::vector<message>& out);
  void task_ended() noexcept;
  std::string words_of(const element& e, const step& now) const;
  std::string port_name(int port) const;

  // Where they are: moves.cpp
  void deliver(message&& what, key to, std::int64_t moves, int origin);
  void handle_message(std::span<const std::byte> came, int sender);
  void handle_element(std::span<const std::byte> came);
  void heard(const notice& of);
  void move(element& e, int rank);
  void remove(element& e);
  void arrive(std::unique_ptr<element> came);
  void forget_detours();
  step* step_before(number next);
  template <class V>
  void post(const V& what, int rank, int tag);

  // What they ask together: collects.cpp
  pending& under_way(number at);
  void contribute(const step& now, element& e);
  void send_collected();
  void send_collected(number at, pending& of);
  void heard(const contribution& of);
  void heard(const outcome& of);
  std::shared_ptr<conversation> talk_of(number at);
  void finish(number at);
  void take(number at, std::unique_lock<task::mutex>& lock);
  void forget_steps(number done);

  // What was saved: checkpoint.cpp
  void heard(const part_sum& of);

  // Whether all is over: quiet.cpp
  void tally_up();
  void heard(const tally& of);
  void apply(const verdict& of);
  bool asks() const;
  tally mine(std::uint64_t ended);
  void fault(const std::string& why) noexcept;
  void fail(const std::string& why) noexcept;
  void need_sound() const;

  const kind kind_;
  task::detail::pool_base& pool_;
  const int thrown_before_;
  std::array<shard, 64> shards_;
  std::atomic<std::uint64_t> here_{0}, of_all_{0}, moved_{0}, forwarded_{0};

  std::atomic<double> moving_seconds_{0}, moved_bytes_{0};

  step front_{.name = "front"};
  mutable task::detail::spin_lock steps_guard_;
  std::deque<std::unique_ptr<step>> steps_;  ///< those that some element may still have to do
  std::atomic<number> issued_{0};
  std::vector<std::string> ports_;  ///< with steps_guard_

  std::atomic<std::uint64_t> begun_{0};              ///< tasks of elements
  std::atomic<std::int64_t> open_{0};                ///< those that have not ended
  std::atomic<std::uint64_t> sent_{0}, handled_{0};  ///< messages between ranks
  std::atomic<bool> sound_{true};

  mutable task::mutex mutex_;  ///< of what follows
  task::condition_variable changed_;
  std::string failure_;
  std::map<number, std::shared_ptr<pending>> pending_;
  std::map<number, std::shared_ptr<conversation>> talks_;
  std::map<number, std::function<void(std::exception_ptr)>> if_talks_fail_;
  tally sum_;                    ///< of this rank's children
  std::vector<part_sum> parts_;  ///< on rank 0, of the checkpoint that is being written
  int tallies_ = 0;
  bool waits_ = false, told_ = false, quiet_ = false;
  std::optional<std::uint64_t> handled_before_;
  std::uint64_t happened_ = 0;  ///< here, when the last wave came by

  comm::active_messages messages_;
  std::stop_callback<std::function<void()>> if_messages_fail_;  ///< destroyed first
};

}  // namespace plaq::elements
