#include "plaq/comm/messages/active_messages.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/termination.hpp"
#include "plaq/task/not_started.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::comm {

namespace {

constexpr int wave_tag = last_tag;

}  // namespace

class active_messages::implementation {
 public:
  implementation(const communicator& over, task::detail::pool_base& pool) : pool_(pool), messages_(over) {}
  ~implementation() { close(); }

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }

  void handle(task::task_name name, int tag, handler call) {
    need_tag(tag);
    auto fresh = std::make_unique<tag_queue>(*this, name, tag, std::move(call));
    messages_.listen(tag, *fresh);
    std::lock_guard lock(queues_guard_);
    queues_.push_back(std::move(fresh));
  }

  void remove(int first, int last) {
    std::vector<tag_queue*> removed;
    {
      const std::lock_guard lock(queues_guard_);
      for (const auto& k : queues_)
        if (first <= k->tag && k->tag <= last) removed.push_back(k.get());
    }
    for (tag_queue* k : removed) {
      std::size_t dropped = 0;
      {
        const std::lock_guard lock(guard_);
        k->removed = true;
        for (auto& [sender, in] : k->queues) dropped += drop_arrived(in);
      }
      count_dropped(dropped);
    }
    {
      std::unique_lock lock(idle_mutex_);
      idle_.wait(lock, [&] { return std::ranges::all_of(removed, [](tag_queue* k) { return k->running == 0; }); });
    }
    for (tag_queue* k : removed) k->call = nullptr;
  }

  void post(std::vector<std::byte> bytes, int peer, int tag) {
    need_tag(tag);
    auto what = std::make_unique<outgoing_message>(*this, peer, tag, std::move(bytes));
    sent_.fetch_add(1);
    try {
      messages_.send(std::move(what));
    } catch (const input_error&) {
      sent_.fetch_sub(1);
      throw;
    }
  }

  void wait() {
    if (const auto why = wait_for_termination(messages_, wave_tag, [this] { return count(); }); !why.empty()) {
      set_error(why);
      throw runtime_failure(why);
    }
  }

  std::stop_token stopping() const { return stop_.get_token(); }

  std::string in_progress() const {
    std::string text;
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    {
      const std::lock_guard queues(queues_guard_);
      const std::lock_guard messages(guard_);
      for (const auto& k : queues_) {
        std::size_t many = 0;
        for (const auto& [sender, q] : k->queues) many += q.slots.size();
        if (many > 0) add(k->in_words() + ": " + messages_of(many));
      }
    }
    if (const unexpected_messages left = without_handler(); left.count > 0) add(in_words(left));
    if (const auto other = messages_.in_progress(); !other.empty()) add(other);
    return text;
  }

 private:
  /// Message that has arrived, or is about to.
  struct slot {
    std::vector<std::byte> bytes;
    bool arrived = false;
    std::exception_ptr error;
  };
  /// Messages of one sender and tag, in order; the first is being handled while `busy`.
  struct message_queue {
    std::deque<std::shared_ptr<slot>> slots;
    bool busy = false;
  };

  class outgoing_message final : public message {
   public:
    outgoing_message(implementation& of, int peer, int tag, std::vector<std::byte> bytes)
        : message(message_end::send, peer, tag), of_(of), bytes_(std::move(bytes)) {
      where = {bytes_.data(), bytes_.size(), 1, bytes_.size()};
    }
    void complete(const status&) noexcept override {}
    void fail(std::exception_ptr why) noexcept override { of_.set_error(words_of(why)); }

   private:
    implementation& of_;
    std::vector<std::byte> bytes_;
  };

  struct tag_queue;
  class incoming_message final : public message {
   public:
    incoming_message(tag_queue& of, int peer, std::shared_ptr<slot> to)
        : message(message_end::receive, peer, of.tag), of_(of), sender_(peer), to_(std::move(to)) {}
    blocks room(std::size_t size) override {
      to_->bytes.resize(size);
      return {to_->bytes.data(), size, 1, size};
    }
    void complete(const status&) noexcept override { of_.owner.end_receive(of_, sender_, *to_, nullptr); }
    void fail(std::exception_ptr why) noexcept override { of_.owner.end_receive(of_, sender_, *to_, why); }

   private:
    tag_queue& of_;
    int sender_;
    std::shared_ptr<slot> to_;
  };

  /// Handler and messages of one tag.
  struct tag_queue final : listener {
    tag_queue(implementation& owner, task::task_name name, int tag, handler call)
        : owner(owner), name(name), tag(tag), call(std::move(call)) {}
    std::unique_ptr<message> next(int peer) override {
      auto fresh = std::make_shared<slot>();
      {
        std::lock_guard lock(owner.guard_);
        queue_of(peer).slots.push_back(fresh);
      }
      ++owner.open_;
      return std::make_unique<incoming_message>(*this, peer, std::move(fresh));
    }
    /// Returns name and tag of the handler.
    std::string in_words() const { return std::string(name.view()) + ", the handler of tag " + std::to_string(tag); }
    /// Queue of a sender; of any_rank for failures without one. With the lock.
    message_queue& queue_of(int peer) { return queues[peer]; }

    implementation& owner;
    const task::task_name name;
    const int tag;
    handler call;
    std::unordered_map<int, message_queue> queues;  ///< of the senders so far
    bool removed = false;
    std::atomic<long> running{0};  ///< tasks
  };

  static std::string messages_of(std::size_t many) {
    return std::to_string(many) + (many == 1 ? " message" : " messages");
  }
  unexpected_messages without_handler() const { return messages_.unexpected(active_messages::last_tag); }
  static std::string in_words(const unexpected_messages& left) {
    return messages_of(left.count) + " without a handler, the first with tag " + std::to_string(left.tag) +
           " of rank " + std::to_string(left.peer);
  }

  /// Returns the counts of this rank for a wave. Delays the wave while the rank is busy, so that waves are few, but not
  /// for long, so that errors travel.
  counts count() {
    constexpr std::chrono::milliseconds most_delay{1};
    {
      std::unique_lock lock(idle_mutex_);
      idle_.wait_for(lock, most_delay, [&] { return open_.load() == 0; });
    }
    counts now{sent_, handled_, 0, error(), ""};
    if (const unexpected_messages left = without_handler(); left.count > 0) {
      now.left = left.count;
      now.which = "rank " + std::to_string(rank()) + ": " + in_words(left);
    }
    return now;
  }

  /// Begins no further handler.
  void close() {
    {
      std::lock_guard lock(guard_);
      closed_ = true;
    }
    stop_.request_stop();
    for (const auto& k : queues_) messages_.ignore(k->tag);
    std::unique_lock lock(idle_mutex_);
    idle_.wait(lock, [&] { return running_.load() == 0; });
  }

  static void need_tag(int tag) {
    if (tag < 0 || tag > active_messages::last_tag)
      throw input_error("the tag " + std::to_string(tag) + " is not within 0 ... " +
                        std::to_string(active_messages::last_tag));
  }

  static std::string words_of(const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "an exception that is not a std::exception";
    }
  }

  void end_receive(tag_queue& of, int sender, slot& what, std::exception_ptr error) noexcept {
    {
      std::lock_guard lock(guard_);
      what.arrived = true;
      what.error = std::move(error);
    }
    begin_next(of, sender);
  }

  /// Handles the first message of the queue as a task, if it has arrived and none is being handled.
  void begin_next(tag_queue& of, int sender) noexcept {
    std::size_t dropped = 0;
    bool begins = false;
    {
      std::lock_guard lock(guard_);
      message_queue& in = of.queue_of(sender);
      if (of.removed)
        dropped = drop_arrived(in);
      else
        begins = !closed_ && !in.busy && !in.slots.empty() && in.slots.front()->arrived;
      if (begins) in.busy = true, ++running_, ++of.running;
    }
    if (!begins) return count_dropped(dropped);
    task::if_not_started lost([this, &of] {
      set_error("rank " + std::to_string(rank()) + ": no memory or stack for a message");
      end_handler(of);
    });
    try {
      (void)pool_.async(of.name, [this, &of, sender, lost = std::move(lost)]() mutable {
        lost.started();
        handle_first(of, sender);
        begin_next(of, sender);
        end_handler(of);
      });
    } catch (const std::bad_alloc&) {  // `lost` has reported it
    }
  }

  /// Drops the messages at the front that have arrived, unless the first is being handled; returns how many. With the
  /// lock.
  static std::size_t drop_arrived(message_queue& in) {
    std::size_t dropped = 0;
    for (; !in.busy && !in.slots.empty() && in.slots.front()->arrived; ++dropped) in.slots.pop_front();
    return dropped;
  }
  void count_dropped(std::size_t many) {
    handled_ += many;
    for (; many > 0; --many) decrement(open_);
  }
  void end_handler(tag_queue& of) {
    decrement(of.running);
    decrement(running_);
  }

  void handle_first(tag_queue& of, int sender) {
    std::shared_ptr<slot> what;
    {
      std::lock_guard lock(guard_);
      what = of.queue_of(sender).slots.front();
    }
    if (what->error)
      set_error(words_of(what->error));
    else if (error().empty())
      try {
        of.call(what->bytes, sender);
      } catch (...) {
        set_error("rank " + std::to_string(rank()) + ": " + of.in_words() + ", for a message of rank " +
                  std::to_string(sender) + ": " + words_of(std::current_exception()));
      }
    {
      std::lock_guard lock(guard_);
      of.queue_of(sender).slots.pop_front();
      of.queue_of(sender).busy = false;
    }
    ++handled_;
    decrement(open_);
  }

  /// Decrements a count, and notifies waiting threads at 0, one of which may destroy this once the lock is free.
  void decrement(std::atomic<long>& many) {
    std::lock_guard lock(idle_mutex_);
    if (--many == 0) idle_.notify_all();
  }

  void set_error(std::string why) {
    {
      std::lock_guard lock(guard_);
      if (error_.empty()) error_ = std::move(why);
    }
    stop_.request_stop();
  }
  std::string error() const {
    std::lock_guard lock(guard_);
    return error_;
  }

  task::detail::pool_base& pool_;
  std::atomic<std::uint64_t> sent_{0}, handled_{0};
  std::atomic<long> open_{0};     ///< messages that have begun to come and are not handled
  std::atomic<long> running_{0};  ///< tasks
  task::mutex idle_mutex_;
  task::condition_variable idle_;

  mutable task::detail::spin_lock guard_;  ///< of the queues, closed_ and error_
  bool closed_ = false;
  std::string error_;
  std::stop_source stop_;
  mutable std::mutex queues_guard_;
  std::vector<std::unique_ptr<tag_queue>> queues_;
  messenger messages_;  ///< destroyed first: messages in progress still end in the others
};

active_messages::active_messages(const communicator& over, task::detail::pool_base& pool)
    : work_(std::make_unique<implementation>(over, pool)) {}
active_messages::~active_messages() = default;

int active_messages::rank() const { return work_->rank(); }
int active_messages::size() const { return work_->size(); }

void active_messages::handle(task::task_name name, int tag, handler call) { work_->handle(name, tag, std::move(call)); }
void active_messages::remove(int first, int last) { work_->remove(first, last); }
void active_messages::post(std::vector<std::byte> bytes, int peer, int tag) {
  work_->post(std::move(bytes), peer, tag);
}
void active_messages::wait() { work_->wait(); }
std::stop_token active_messages::stopping() const { return work_->stopping(); }
std::string active_messages::in_progress() const { return work_->in_progress(); }

}  // namespace plaq::comm
