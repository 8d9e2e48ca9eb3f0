#include "plaq/comm/messages/messenger.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/in_flight.hpp"
#include "plaq/comm/messages/matching.hpp"
#include "plaq/comm/messages/message_types.hpp"
#include "plaq/comm/wire/open_messages.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/trace/messages.hpp"

namespace plaq::comm {

class messenger::implementation final : public task::poller {
 public:
  explicit implementation(std::unique_ptr<wire> below)
      : wire_(std::move(below)),
        match_(wire_->rank(), wire_->size()),
        in_flight_(*wire_),
        rank(wire_->rank()),
        size(wire_->size()) {
    start_polling();
  }

  ~implementation() {
    stop_polling();
    in_flight_.forget();
    give_up("the messenger was destroyed");
    tell();
  }

  void need_peer(int peer, int tag) const {
    if (peer < 0 || peer >= size)
      throw input_error("there is no rank " + std::to_string(peer) + " among " + std::to_string(size));
    if (tag < 0 || tag > last_tag)
      throw input_error("the tag " + std::to_string(tag) + " is not within 0 ... " + std::to_string(last_tag));
  }

  void send(std::unique_ptr<message> what) {
    need_peer(what->peer, what->tag);
    if (what->peer != rank)
      return start(std::move(what), [this](message& m) { return wire_->send(m.where, m.peer, m.tag); });
    std::unique_lock lock(guard_);
    auto receiver = match_.receiver_of(rank, what->tag);
    if (!receiver) return match_.keep(std::move(what));
    lock.unlock();
    if (receiver->expected) delivered(1);
    hand_over(std::move(what), std::move(receiver));
  }

  void receive(std::unique_ptr<message> what) {
    need_peer(what->peer == any_rank ? rank : what->peer, what->tag);
    std::unique_lock lock(guard_);
    if (auto sender = match_.from_self(what->peer, what->tag)) {
      lock.unlock();
      what->peer = rank;
      return hand_over(std::move(sender), std::move(what));
    }
    if (const auto first = match_.from_others(what->peer, what->tag)) {
      lock.unlock();
      return receive(std::move(what), *first);
    }
    if (match_.post(std::move(what))) unlock_and_expect(lock);
  }

  void listen(int tag, listener& to) {
    need_peer(rank, tag);
    std::vector<std::pair<std::unique_ptr<message>, std::unique_ptr<message>>> from_self;
    std::vector<std::pair<wire::arrival, std::unique_ptr<message>>> from_others;
    std::unique_lock lock(guard_);
    const bool looked_for = match_.listen(tag, to);
    while (auto sender = match_.from_self(any_rank, tag)) from_self.emplace_back(std::move(sender), to.next(rank));
    while (const auto first = match_.from_others(any_rank, tag)) from_others.emplace_back(*first, to.next(first->peer));
    if (looked_for)
      unlock_and_expect(lock);
    else
      lock.unlock();
    for (auto& [sender, receiver] : from_self) hand_over(std::move(sender), std::move(receiver));
    for (auto& [first, receiver] : from_others) receive(std::move(receiver), first);
  }

  void ignore(int tag) {
    std::lock_guard lock(guard_);
    if (match_.ignore(tag)) delivered(1);
  }

  /// Receives a message that has arrived.
  void receive(std::unique_ptr<message> what, const wire::arrival& arrived) {
    what->peer = arrived.peer;
    start(std::move(what), [&](message& m) { return wire_->receive(arrived, m.where); }, &arrived);
  }

  /// Begins a message on the wire, and ends it if it fails or is complete at once. `arrived`: of a receive.
  template <class Begin>
  void start(std::unique_ptr<message> what, Begin&& begin, const wire::arrival* arrived = nullptr) {
    std::exception_ptr error;
    {
      std::unique_lock lock(guard_);
      try {
        if (arrived) what = fitting(std::move(what), *arrived);
        if (!arrived && what->peer != rank) note_sent(*what);
        const auto handle = begin(*what);
        if (in_flight_.add(handle, what)) return unlock_and_expect(lock);
        note_received(*what);
      } catch (const std::exception& e) {
        error = what->failure(rank, e.what());
      }
    }
    if (error)
      what->fail(error);
    else
      what->complete();
  }

  bool poll() noexcept override {
    {
      std::unique_lock lock(guard_, std::try_to_lock);
      if (!lock || (!match_.awaits_others() && in_flight_.empty())) return false;
      try {
        take_arrivals();
        in_flight_.test([this](std::unique_ptr<message> m, const std::string& why) { over(std::move(m), why); });
      } catch (const std::exception& e) {
        give_up(e.what());
      }
    }
    return tell();
  }

  std::string in_progress() const {
    open_messages open;
    std::lock_guard lock(guard_);
    const auto add = [&](const message& m) { (m.call == message_end::send ? open.to : open.from).insert(m.peer); };
    match_.each(add);
    in_flight_.each(add);
    return open.in_words();
  }

  unexpected_messages unexpected(int last) const {
    std::lock_guard lock(guard_);
    return match_.unexpected(last);
  }

  wire::handle prepare(const blocks& what, int peer, int tag) {
    need_peer(peer, tag);
    std::lock_guard lock(guard_);
    return peer == rank ? wire::nothing : wire_->prepare_send(what, peer, tag);
  }
  void forget(wire::handle prepared) {
    std::lock_guard lock(guard_);
    if (prepared != wire::nothing) wire_->forget(prepared);
  }

  wire& below() { return *wire_; }

 private:
  struct finished {
    std::unique_ptr<message> what;
    std::exception_ptr error;
    bool looked_for;  ///< by pollers; not a message to itself without its other end
  };

  // With the lock.

  void over(std::unique_ptr<message> what, const std::string& why, bool looked_for = true) {
    auto error = why.empty() ? nullptr : what->failure(rank, why);
    if (!error) note_received(*what);
    finished_.push_back({std::move(what), std::move(error), looked_for});
  }

  // MPI keeps the order of the messages of one sender, so both ends count the same numbers.
  void note_sent(message& what) {
    what.number = sent_[what.peer]++;
    trace::message_sent({wire_->number(), rank, what.peer, what.tag, what.number}, what.where.bytes());
  }
  void note_received(const message& what) const {
    if (what.call == message_end::receive && what.peer != rank)
      trace::message_received({wire_->number(), what.peer, rank, what.tag, what.number}, what.where.bytes());
  }

  void take_arrivals() {
    constexpr int at_most = 32;  // so that other threads get the lock in between
    for (int i = 0; i < at_most && match_.awaits_others(); ++i) {
      auto arrived = wire_->next_arrival();
      if (!arrived) return;
      arrived->number = arrived_[arrived->peer]++;
      auto what = match_.receiver_of(arrived->peer, arrived->tag);
      if (!what) {
        match_.keep(*arrived);
        continue;
      }
      if (!what->expected) (void)expect(1);  // of a listener, for which one thing is expected all the time
      try {
        what = fitting(std::move(what), *arrived);
        if (!in_flight_.add(wire_->receive(*arrived, what->where), what)) over(std::move(what), "");
      } catch (const std::exception& e) {
        over(std::move(what), e.what());
      }
    }
  }

  std::unique_ptr<message> fitting(std::unique_ptr<message> what, const wire::arrival& arrived) const {
    what->where = what->room(arrived.bytes);
    what->number = arrived.number;
    const std::size_t room = what->where.bytes();
    if (room == arrived.bytes) return what;
    auto why = what->failure(rank, misfit(room, arrived.bytes));
    auto sink = std::make_unique<misfit_message>(std::move(what), std::move(why), arrived.bytes);
    sink->number = arrived.number;
    return sink;
  }

  void give_up(const std::string& why) {
    match_.give_up([&](std::unique_ptr<message> m, bool looked_for) { over(std::move(m), why, looked_for); });
    in_flight_.give_up([&](std::unique_ptr<message> m) { over(std::move(m), why); });
  }

  /// Counts one more message in progress, before another thread can find it: waiting threads poll only while there is
  /// one.
  static void unlock_and_expect(std::unique_lock<task::detail::spin_lock>& lock) noexcept {
    const bool first = expect(1);
    lock.unlock();
    if (first) wake_pools();
  }

  // Without it.

  /// Completes messages in finished_, to which poll() and the destructor add: one thread at a time.
  bool tell() noexcept {
    if (finished_.empty()) return false;
    delivered(std::ranges::count(finished_, true, &finished::looked_for));
    for (finished& f : finished_)
      if (f.error)
        f.what->fail(std::move(f.error));
      else
        f.what->complete();
    finished_.clear();
    return true;
  }

  void hand_over(std::unique_ptr<message> sender, std::unique_ptr<message> receiver) {
    const std::size_t bytes = sender->where.bytes();
    bool fits = false;
    try {
      receiver->where = receiver->room(bytes);
      if (const std::size_t room = receiver->where.bytes(); room != bytes) throw runtime_failure(misfit(room, bytes));
      fits = true;
      if (wire_->on_device(sender->where) || wire_->on_device(receiver->where)) {
        auto both = std::make_unique<self_message>(std::move(sender), std::move(receiver));
        const blocks from = both->from;
        return start(std::move(both), [&](message& to) { return wire_->copy(from, to.where); });
      }
      copy(sender->where, receiver->where);
      receiver->complete({rank, sender->tag, bytes});
    } catch (const std::exception& e) {
      const auto error = receiver->failure(rank, e.what());
      receiver->fail(error);
      if (fits) return sender->fail(error);
    }
    sender->complete({rank, sender->tag, bytes});
  }

  static std::string misfit(std::size_t expected, std::size_t got) {
    return "expected " + std::to_string(expected) + " bytes and got " + std::to_string(got);
  }

  mutable task::detail::spin_lock guard_;
  std::unique_ptr<wire> wire_;
  matching match_;
  in_flight in_flight_;
  std::vector<finished> finished_;
  std::unordered_map<int, std::uint32_t> sent_, arrived_;  // messages by peer

 public:
  const int rank, size;
};

messenger::messenger(const communicator& over) : work_(std::make_unique<implementation>(over.open_wire())) {}
messenger::~messenger() = default;

int messenger::rank() const { return work_->rank; }
int messenger::size() const { return work_->size; }

namespace {
template <class Message>
task::future<status> future_of(const std::unique_ptr<Message>& fresh) {
  return fresh->promise.get_future();
}
}  // namespace

task::future<status> messenger::send(const blocks& from, int peer, int tag) {
  auto fresh = std::make_unique<status_message>(message_end::send, peer, tag, from);
  auto result = future_of(fresh);
  work_->send(std::move(fresh));
  return result;
}

task::future<status> messenger::send(std::vector<std::byte> bytes, int peer, int tag) {
  auto fresh = std::make_unique<packed_message>(peer, tag, std::move(bytes));
  auto result = future_of(fresh);
  work_->send(std::move(fresh));
  return result;
}

task::future<status> messenger::receive(const blocks& to, int peer, int tag) {
  auto fresh = std::make_unique<status_message>(message_end::receive, peer, tag, to);
  auto result = future_of(fresh);
  work_->receive(std::move(fresh));
  return result;
}

void messenger::send(std::unique_ptr<message> what) { work_->send(std::move(what)); }
void messenger::receive(std::unique_ptr<message> object) { work_->receive(std::move(object)); }
void messenger::listen(int tag, listener& to) { work_->listen(tag, to); }
void messenger::ignore(int tag) { work_->ignore(tag); }
unexpected_messages messenger::unexpected(int last) const { return work_->unexpected(last); }

std::string messenger::in_progress() const { return work_->in_progress(); }

void messenger::throw_late(double seconds) const { throw_timeout(rank(), seconds, in_progress()); }

messenger::persistent_send::persistent_send(messenger& of, const blocks& what, int peer, int tag)
    : of_(&of), what_(what), prepared_(of.work_->prepare(what, peer, tag)), peer_(peer), tag_(tag) {}

messenger::persistent_send::~persistent_send() {
  if (of_) of_->work_->forget(prepared_);
}

task::future<status> messenger::persistent_send::start() {
  if (peer_ == of_->rank()) return of_->send(what_, peer_, tag_);
  auto fresh = std::make_unique<status_message>(message_end::send, peer_, tag_, what_);
  auto result = future_of(fresh);
  of_->work_->start(std::move(fresh), [&](message&) {
    of_->work_->below().start(prepared_, what_.bytes());
    return prepared_;
  });
  return result;
}

}  // namespace plaq::comm
