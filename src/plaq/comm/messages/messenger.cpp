#include "plaq/comm/messages/messenger.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "plaq/base/error.hpp"
#include "plaq/comm/wire/open_messages.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::comm {

namespace {

using arriving = messenger::arriving;
using listener = messenger::listener;

/// A message whose future tells no more than that.
class told : public arriving {
 public:
  using arriving::arriving;
  void complete(const status& what) noexcept override { made.set_value(what); }
  void fail(std::exception_ptr why) noexcept override { made.set_exception(std::move(why)); }

  task::promise<status> made;
};

/// A message that brings its bytes along.
class packed final : public told {
 public:
  packed(const char* call, int peer, int tag, std::vector<std::byte> bytes)
      : told(call, peer, tag), bytes_(std::move(bytes)) {
    where = {bytes_.data(), bytes_.size(), 1, bytes_.size()};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes a message that does not fit, so that those after it are not held up, and tells who waited for it.
class unfit final : public arriving {
 public:
  unfit(std::unique_ptr<arriving> who, std::exception_ptr why, std::size_t bytes)
      : arriving(who->call, who->peer, who->tag), who_(std::move(who)), why_(std::move(why)), sink_(bytes) {
    where = {sink_.data(), bytes, 1, bytes};
  }
  void complete(const status&) noexcept override { who_->fail(why_); }
  void fail(std::exception_ptr) noexcept override { who_->fail(why_); }

 private:
  std::unique_ptr<arriving> who_;
  std::exception_ptr why_;
  std::vector<std::byte> sink_;
};

/// Two ends that meet on this rank while a device copies from one to the other.
class handed final : public arriving {
 public:
  handed(std::unique_ptr<arriving> sender, std::unique_ptr<arriving> receiver)
      : arriving(receiver->call, receiver->peer, receiver->tag, receiver->where),
        from(sender->where),
        sender_(std::move(sender)),
        receiver_(std::move(receiver)) {}
  void complete(const status& what) noexcept override {
    receiver_->complete(what);
    sender_->complete(what);
  }
  void fail(std::exception_ptr why) noexcept override {
    receiver_->fail(why);
    sender_->fail(why);
  }

  const blocks from;

 private:
  std::unique_ptr<arriving> sender_, receiver_;
};

struct early final : matched {
  explicit early(const wire::arrival& what) : matched{what.peer, what.tag}, what(what) {}
  wire::arrival what;
};

constexpr const char *send_call = "send", *receive_call = "receive";
const char* direction(const char* call) { return call == send_call ? " to " : " from "; }
std::string name_of(int peer) { return peer == any_rank ? "any rank" : "rank " + std::to_string(peer); }

}  // namespace

class messenger::implementation final : public task::poller {
 public:
  explicit implementation(std::unique_ptr<wire> below)
      : wire_(std::move(below)), rank(wire_->rank()), size(wire_->size()) {}

  ~implementation() {
    retire();
    for (const wire::handle h : handles_) wire_->forget(h);
    give_up("the messenger was destroyed");
    tell();
    early_.each([](early& e) { delete &e; });
  }

  void need_peer(int peer, int tag) const {
    if (peer < 0 || peer >= size)
      throw input_error("there is no rank " + std::to_string(peer) + " among " + std::to_string(size));
    if (tag < 0 || tag > last_tag)
      throw input_error("the tag " + std::to_string(tag) + " is not within 0 ... 30000");
  }

  void send(std::unique_ptr<arriving> what) {
    need_peer(what->peer, what->tag);
    if (what->peer != rank)
      return start(std::move(what), [this](arriving& w) { return wire_->send(w.where, w.peer, w.tag); });
    std::unique_lock lock(guard_);
    auto receiver = receiver_of(rank, what->tag);
    if (!receiver) {
      own_.push(*what.release());
      return;
    }
    lock.unlock();
    if (receiver->expected) came(1);
    hand_over(std::move(what), std::move(receiver));
  }

  void receive(std::unique_ptr<arriving> what) {
    const bool any = what->peer == any_rank;
    need_peer(any ? rank : what->peer, what->tag);
    std::unique_lock lock(guard_);
    if (any || what->peer == rank)
      if (auto sender = take(own_, rank, what->tag)) {
        lock.unlock();
        what->peer = rank;
        return hand_over(std::move(sender), std::move(what));
      }
    if (auto first = any ? take(early_, what->tag) : take(early_, what->peer, what->tag)) {
      lock.unlock();
      return receive(std::move(what), first->what);
    }
    what->expected = what->peer != rank;
    if (any) ++from_any_;
    if (what->expected) ++from_others_;
    const bool expected = what->expected;
    posted_.push(*what.release());
    if (expected) unlock_and_expect(lock);
  }

  void listen(int tag, listener& to) {
    need_peer(rank, tag);
    std::vector<std::pair<std::unique_ptr<arriving>, std::unique_ptr<arriving>>> from_myself;
    std::vector<std::pair<std::unique_ptr<early>, std::unique_ptr<arriving>>> from_others;
    std::unique_lock lock(guard_);
    if (!listeners_.try_emplace(tag, &to).second)
      throw input_error("somebody listens to the tag " + std::to_string(tag) + " already");
    while (auto sender = take(own_, tag)) from_myself.emplace_back(std::move(sender), to.next(rank));
    while (auto first = take(early_, tag)) {
      auto receiver = to.next(first->peer);
      from_others.emplace_back(std::move(first), std::move(receiver));
    }
    unlock_and_expect(lock);
    for (auto& [sender, receiver] : from_myself) hand_over(std::move(sender), std::move(receiver));
    for (auto& [first, receiver] : from_others) receive(std::move(receiver), first->what);
  }

  void ignore(int tag) {
    std::lock_guard lock(guard_);
    if (listeners_.erase(tag) > 0) came(1);
  }

  /// Receives what has come.
  void receive(std::unique_ptr<arriving> what, const wire::arrival& came) {
    what->peer = came.peer;
    start(std::move(what), [&](arriving& w) { return wire_->receive(came, w.where); }, &came);
  }

  /// Begins something on the wire; what fails or is complete at once is told now. `came` is the message that is to
  /// be received, if that is what begins.
  template <class Begin>
  void start(std::unique_ptr<arriving> what, Begin&& begin, const wire::arrival* came = nullptr) {
    std::exception_ptr error;
    {
      std::unique_lock lock(guard_);
      try {
        if (came) what = fitting(std::move(what), *came);
        if (wire::handle h = begin(*what); !is_over(h)) {
          track(h, std::move(what));
          return unlock_and_expect(lock);
        }
      } catch (const std::exception& e) {
        error = failure(*what, e.what());
      }
    }
    if (error)
      what->fail(error);
    else
      what->complete({what->peer, what->tag, what->where.bytes()});
  }

  bool poll() noexcept override {
    {
      std::unique_lock lock(guard_, std::try_to_lock);
      if (!lock || (!anybody_waits() && handles_.empty())) return false;
      try {
        take_arrivals();
        look_at_some();
      } catch (const std::exception& e) {
        give_up(e.what());
      }
    }
    return tell();
  }

  std::string under_way() const {
    open_messages open;
    std::lock_guard lock(guard_);
    const auto add = [&](const arriving& w) { (w.call == send_call ? open.to : open.from).insert(w.peer); };
    posted_.each(add);
    own_.each(add);
    for (const auto& w : moving_) add(*w);
    return open.in_words();
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
    std::unique_ptr<arriving> what;
    std::exception_ptr error;
    bool looked_for = true;  ///< by pollers; a message to oneself whose other end is missing is not
  };

  // With the lock.

  bool anybody_waits() const { return from_others_ > 0 || !listeners_.empty(); }

  /// The oldest from this peer, or from any, if `where` is only a tag; nothing if there is none.
  template <class Entry, class... Where>
  static std::unique_ptr<Entry> take(match_table<Entry>& table, Where... where) {
    Entry* const found = table.find(where...);
    if (found) table.remove(*found);
    return std::unique_ptr<Entry>(found);
  }

  /// Who gets the next message of this peer and tag: the oldest receive that fits, else who listens, else nobody.
  std::unique_ptr<arriving> receiver_of(int peer, int tag) {
    arriving* found = posted_.find(peer, tag);
    if (from_any_ > 0)
      if (arriving* any = posted_.find(any_rank, tag); any && (!found || any->number < found->number)) found = any;
    if (!found) {
      const auto to = listeners_.find(tag);
      return to == listeners_.end() ? nullptr : to->second->next(peer);
    }
    posted_.remove(*found);
    if (found->peer == any_rank) --from_any_;
    if (found->expected) --from_others_;
    found->peer = peer;
    return std::unique_ptr<arriving>(found);
  }

  void take_arrivals() {
    constexpr int at_most = 32;  // so that others get the lock in between
    for (int i = 0; i < at_most && anybody_waits(); ++i) {
      const auto came = wire_->next_arrival();
      if (!came) return;
      auto what = receiver_of(came->peer, came->tag);
      if (!what) {
        early_.push(*new early(*came));
        continue;
      }
      if (!what->expected) (void)expect(1);  // of a listener, for which one thing is expected all the time
      try {
        what = fitting(std::move(what), *came);
        if (wire::handle h = wire_->receive(*came, what->where); is_over(h))
          finished_.push_back({std::move(what), nullptr});
        else
          track(h, std::move(what));
      } catch (const std::exception& e) {
        auto error = failure(*what, e.what());
        finished_.push_back({std::move(what), std::move(error)});
      }
    }
  }

  /// A bounded number at each look, so that a look costs the same however many there are.
  void look_at_some() {
    constexpr std::size_t window = 32;
    if (handles_.empty()) return;
    if (next_ >= handles_.size()) next_ = 0;
    ends_.clear();
    const std::size_t begin = next_, n = std::min(window, handles_.size() - begin);
    wire_->test(std::span(handles_).subspan(begin, n), ends_);
    next_ += n;
    std::ranges::sort(ends_, std::greater<>(), &wire::end::index);  // the last fill the gaps
    for (const wire::end& e : ends_) {
      const std::size_t i = begin + e.index;
      auto error = e.error.empty() ? nullptr : failure(*moving_[i], e.error);
      finished_.push_back({std::move(moving_[i]), std::move(error)});
      handles_[i] = handles_.back();
      if (i + 1 < moving_.size()) moving_[i] = std::move(moving_.back());
      handles_.pop_back();
      moving_.pop_back();
    }
  }

  /// What is here already, or was small enough to be gone already, needs no further look.
  bool is_over(wire::handle& h) {
    ends_.clear();
    wire_->test({&h, 1}, ends_);
    if (ends_.empty()) return false;
    if (!ends_[0].error.empty()) throw runtime_failure(ends_[0].error);
    return true;
  }

  std::unique_ptr<arriving> fitting(std::unique_ptr<arriving> what, const wire::arrival& came) {
    what->where = what->room(came.bytes);
    const std::size_t room = what->where.bytes();
    if (room == came.bytes) return what;
    auto why = failure(*what, "expected " + std::to_string(room) + " bytes and got " + std::to_string(came.bytes));
    return std::make_unique<unfit>(std::move(what), std::move(why), came.bytes);
  }

  void track(wire::handle h, std::unique_ptr<arriving> what) {
    handles_.push_back(h);
    moving_.push_back(std::move(what));
  }

  void give_up(const std::string& why) {
    match_table<arriving> none;
    for (match_table<arriving>* table : {&posted_, &own_}) {
      table->each([&](arriving& w) {
        finished_.push_back({std::unique_ptr<arriving>(&w), failure(w, why), w.expected});
      });
      *table = {};
    }
    for (auto& w : moving_) {
      auto error = failure(*w, why);
      finished_.push_back({std::move(w), std::move(error)});
    }
    handles_.clear();
    moving_.clear();
    for (const auto& [tag, to] : listeners_) {
      auto what = to->next(any_rank);
      auto error = failure(*what, why);
      finished_.push_back({std::move(what), std::move(error)});
    }
    listeners_.clear();
    from_others_ = from_any_ = 0;
  }

  /// One thing more is under way. Counted before anybody can find it: who waits polls only while something is.
  static void unlock_and_expect(std::unique_lock<task::detail::spin_lock>& lock) noexcept {
    const bool first = expect(1);
    lock.unlock();
    if (first) look_out();
  }

  // Without it.

  /// Only who looks, or destroys, adds to finished_: one thread at a time.
  bool tell() noexcept {
    if (finished_.empty()) return false;
    came(std::ranges::count(finished_, true, &finished::looked_for));
    for (finished& f : finished_)
      if (f.error)
        f.what->fail(std::move(f.error));
      else
        f.what->complete({f.what->peer, f.what->tag, f.what->where.bytes()});
    finished_.clear();
    return true;
  }

  void hand_over(std::unique_ptr<arriving> sender, std::unique_ptr<arriving> receiver) {
    const std::size_t bytes = sender->where.bytes();
    bool fits = false;
    try {
      receiver->where = receiver->room(bytes);
      if (receiver->where.bytes() != bytes)
        throw runtime_failure("expected " + std::to_string(receiver->where.bytes()) + " bytes and got " +
                              std::to_string(bytes));
      fits = true;
      if (wire_->on_device(sender->where) || wire_->on_device(receiver->where)) {
        auto both = std::make_unique<handed>(std::move(sender), std::move(receiver));
        const blocks from = both->from;
        return start(std::move(both), [&](arriving& to) { return wire_->copy(from, to.where); });
      }
      copy(sender->where, receiver->where);
      receiver->complete({rank, sender->tag, bytes});
    } catch (const std::exception& e) {
      const auto error = failure(*receiver, e.what());
      receiver->fail(error);
      if (fits) return sender->fail(error);
    }
    sender->complete({rank, sender->tag, bytes});
  }

  std::exception_ptr failure(const arriving& what, const std::string& why) const {
    return std::make_exception_ptr(
        runtime_failure("rank " + std::to_string(rank) + ": " + what.call + direction(what.call) +
                        name_of(what.peer) + " with tag " + std::to_string(what.tag) + ": " + why));
  }

  mutable task::detail::spin_lock guard_;
  std::unique_ptr<wire> wire_;
  match_table<arriving> posted_;  ///< receives without their message
  match_table<arriving> own_;     ///< messages to oneself without their receive
  match_table<early> early_;      ///< messages without their receive
  std::size_t from_others_ = 0;   ///< how many of posted_ are not from oneself alone
  std::size_t from_any_ = 0;      ///< how many of these from any rank
  std::unordered_map<int, listener*> listeners_;  ///< by tag
  std::vector<wire::handle> handles_;  // what is moving, both in the same order
  std::vector<std::unique_ptr<arriving>> moving_;
  std::size_t next_ = 0;
  std::vector<wire::end> ends_;
  std::vector<finished> finished_;

 public:
  const int rank, size;
};

messenger::messenger(const communicator& over) : work_(std::make_unique<implementation>(over.open_wire())) {}
messenger::~messenger() = default;

int messenger::rank() const { return work_->rank; }
int messenger::size() const { return work_->size; }

namespace {
template <class Told>
task::future<status> future_of(const std::unique_ptr<Told>& fresh) {
  return fresh->made.get_future();
}
}  // namespace

task::future<status> messenger::send(const blocks& from, int peer, int tag) {
  auto fresh = std::make_unique<told>(send_call, peer, tag, from);
  auto result = future_of(fresh);
  work_->send(std::move(fresh));
  return result;
}

task::future<status> messenger::send(std::vector<std::byte> bytes, int peer, int tag) {
  auto fresh = std::make_unique<packed>(send_call, peer, tag, std::move(bytes));
  auto result = future_of(fresh);
  work_->send(std::move(fresh));
  return result;
}

task::future<status> messenger::receive(const blocks& to, int peer, int tag) {
  auto fresh = std::make_unique<told>(receive_call, peer, tag, to);
  auto result = future_of(fresh);
  work_->receive(std::move(fresh));
  return result;
}

void messenger::send(std::unique_ptr<arriving> what) { work_->send(std::move(what)); }
void messenger::receive(std::unique_ptr<arriving> object) { work_->receive(std::move(object)); }
void messenger::listen(int tag, listener& to) { work_->listen(tag, to); }
void messenger::ignore(int tag) { work_->ignore(tag); }

std::string messenger::under_way() const { return work_->under_way(); }

void messenger::late(double seconds) const {
  still_under_way(rank(), seconds, under_way());
}

messenger::persistent_send::persistent_send(messenger& of, const blocks& what, int peer, int tag)
    : of_(&of), what_(what), prepared_(of.work_->prepare(what, peer, tag)), peer_(peer), tag_(tag) {}

messenger::persistent_send::~persistent_send() {
  if (of_) of_->work_->forget(prepared_);
}

task::future<status> messenger::persistent_send::start() {
  if (peer_ == of_->rank()) return of_->send(what_, peer_, tag_);
  auto fresh = std::make_unique<told>(send_call, peer_, tag_, what_);
  auto result = future_of(fresh);
  of_->work_->start(std::move(fresh), [&](arriving&) {
    of_->work_->below().start(prepared_, what_.bytes());
    return prepared_;
  });
  return result;
}

}  // namespace plaq::comm
