#include "plaq/comm/messages/active_messages.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::comm {

namespace {

constexpr int wave_tag = last_tag;

/// What a wave finds on its way up the tree of ranks: messages sent and handled, and the first error, in words.
struct tally {
  std::uint64_t sent = 0, handled = 0;
  std::string error;
};
/// What it brings down.
struct verdict {
  bool quiet = false;
  std::string error;
};

}  // namespace

template <>
struct packing<tally> {
  static void write(const tally& t, std::vector<std::byte>& to) {
    packing<std::array<std::uint64_t, 2>>::write({t.sent, t.handled}, to);
    packing<std::string>::write(t.error, to);
  }
  static tally read(unpacker& from) {
    const auto [sent, handled] = packing<std::array<std::uint64_t, 2>>::read(from);
    return {sent, handled, packing<std::string>::read(from)};
  }
};
template <>
struct packing<verdict> {
  static void write(const verdict& v, std::vector<std::byte>& to) {
    packing<bool>::write(v.quiet, to);
    packing<std::string>::write(v.error, to);
  }
  static verdict read(unpacker& from) {
    const bool quiet = packing<bool>::read(from);
    return {quiet, packing<std::string>::read(from)};
  }
};

class active_messages::implementation {
 public:
  implementation(const communicator& over, task::detail::pool_base& pool) : pool_(pool), messages_(over) {}
  ~implementation() { close(); }

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }

  void handle(task::task_name name, int tag, handler call) {
    need_tag(tag);
    auto fresh = std::make_unique<kind>(*this, name, tag, std::move(call));
    messages_.listen(tag, *fresh);
    std::lock_guard lock(kinds_guard_);
    kinds_.push_back(std::move(fresh));
  }

  void post(std::vector<std::byte> bytes, int peer, int tag) {
    need_tag(tag);
    auto what = std::make_unique<outgoing>(*this, peer, tag, std::move(bytes));
    sent_.fetch_add(1);
    try {
      messages_.send(std::move(what));
    } catch (const input_error&) {
      sent_.fetch_sub(1);
      throw;
    }
  }

  /// Four counters (Mattern, 1987): a wave of messages up and down a tree of ranks adds what each has sent and handled.
  /// All is quiet if as many were handled when one wave was over as were sent when the next began.
  void quiet() {
    constexpr std::chrono::milliseconds patience{1};  // so that waves are few while handlers run, and an error is heard
    const int me = rank();
    std::vector<int> children;
    for (int child = 2 * me + 1; child <= 2 * me + 2 && child < size(); ++child) children.push_back(child);
    std::optional<std::uint64_t> handled_before;
    for (;;) {
      {
        std::unique_lock lock(idle_mutex_);
        idle_.wait_for(lock, patience, [&] { return open_.load() == 0; });
      }
      tally sum{sent_, handled_, error()};
      for (const int child : children) {
        const auto of_child = messages_.irecv_object<tally>(child, wave_tag).get();
        sum.sent += of_child.sent;
        sum.handled += of_child.handled;
        if (sum.error.empty()) sum.error = of_child.error;
      }
      verdict found{handled_before == sum.sent, sum.error};
      handled_before = sum.handled;
      if (me > 0) {
        const int parent = (me - 1) / 2;
        messages_.isend_object(sum, parent, wave_tag).get();
        found = messages_.irecv_object<verdict>(parent, wave_tag).get();
      }
      for (const int child : children) messages_.isend_object(found, child, wave_tag).get();
      if (!found.error.empty()) throw runtime_failure(found.error);
      if (found.quiet) return;
    }
  }

 private:
  /// A message that has come, or is about to.
  struct slot {
    std::vector<std::byte> bytes;
    bool here = false;
    std::exception_ptr error;
  };
  /// Messages of one sender and tag, in their order; the first is being handled while `busy`.
  struct line {
    std::deque<std::shared_ptr<slot>> slots;
    bool busy = false;
  };

  class outgoing final : public messenger::arriving {
   public:
    outgoing(implementation& of, int peer, int tag, std::vector<std::byte> bytes)
        : arriving("send", peer, tag), of_(of), bytes_(std::move(bytes)) {
      where = {bytes_.data(), bytes_.size(), 1, bytes_.size()};
    }
    void complete(const status&) noexcept override {}
    void fail(std::exception_ptr why) noexcept override { of_.went_wrong(words_of(why)); }

   private:
    implementation& of_;
    std::vector<std::byte> bytes_;
  };

  struct kind;
  class incoming final : public messenger::arriving {
   public:
    incoming(kind& of, int peer, std::shared_ptr<slot> to)
        : arriving("receive", peer, of.tag), of_(of), sender_(peer), to_(std::move(to)) {}
    blocks room(std::size_t size) override {
      to_->bytes.resize(size);
      return {to_->bytes.data(), size, 1, size};
    }
    void complete(const status&) noexcept override { of_.owner.has_come(of_, sender_, *to_, nullptr); }
    void fail(std::exception_ptr why) noexcept override { of_.owner.has_come(of_, sender_, *to_, why); }

   private:
    kind& of_;
    int sender_;
    std::shared_ptr<slot> to_;
  };

  /// All messages of one tag.
  struct kind final : messenger::listener {
    kind(implementation& owner, task::task_name name, int tag, handler call)
        : owner(owner), name(name), tag(tag), call(std::move(call)), lines(std::size_t(owner.size()) + 1) {}
    std::unique_ptr<messenger::arriving> next(int peer) override {
      auto fresh = std::make_shared<slot>();
      {
        std::lock_guard lock(owner.guard_);
        line_of(peer).slots.push_back(fresh);
      }
      ++owner.open_;
      return std::make_unique<incoming>(*this, peer, std::move(fresh));
    }
    /// The last line is of what fails without a sender.
    line& line_of(int peer) { return peer == any_rank ? lines.back() : lines[std::size_t(peer)]; }

    implementation& owner;
    const task::task_name name;
    const int tag;
    handler call;
    std::vector<line> lines;
  };

  /// From here on no handler begins.
  void close() {
    {
      std::lock_guard lock(guard_);
      closed_ = true;
    }
    for (const auto& k : kinds_) messages_.ignore(k->tag);
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
      return "something that is no std::exception";
    }
  }

  void has_come(kind& of, int sender, slot& what, std::exception_ptr error) noexcept {
    {
      std::lock_guard lock(guard_);
      what.here = true;
      what.error = std::move(error);
    }
    begin_next(of, sender);
  }

  /// Handles the first of the line as a task, if it is here and nobody is at it.
  void begin_next(kind& of, int sender) noexcept {
    {
      std::lock_guard lock(guard_);
      line& in = of.line_of(sender);
      if (closed_ || in.busy || in.slots.empty() || !in.slots.front()->here) return;
      in.busy = true;
      ++running_;
    }
    (void)pool_.async(of.name, [this, &of, sender] {
      handle_first(of, sender);
      begin_next(of, sender);
      less(running_);
    });
  }

  void handle_first(kind& of, int sender) {
    std::shared_ptr<slot> what;
    {
      std::lock_guard lock(guard_);
      what = of.line_of(sender).slots.front();
    }
    if (what->error)
      went_wrong(words_of(what->error));
    else if (error().empty())
      try {
        of.call(what->bytes, sender);
      } catch (...) {
        went_wrong("rank " + std::to_string(rank()) + ": " + std::string(of.name.view()) +
                   ", the handler of tag " + std::to_string(of.tag) + ", for a message of rank " +
                   std::to_string(sender) + ": " + words_of(std::current_exception()));
      }
    {
      std::lock_guard lock(guard_);
      of.line_of(sender).slots.pop_front();
      of.line_of(sender).busy = false;
    }
    ++handled_;
    less(open_);
  }

  /// One less, and a word to those who wait for none, one of whom may end all this once the lock is free.
  void less(std::atomic<long>& many) {
    std::lock_guard lock(idle_mutex_);
    if (--many == 0) idle_.notify_all();
  }

  void went_wrong(std::string why) {
    std::lock_guard lock(guard_);
    if (error_.empty()) error_ = std::move(why);
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

  mutable task::detail::spin_lock guard_;  ///< of the lines, closed_ and error_
  bool closed_ = false;
  std::string error_;
  std::mutex kinds_guard_;
  std::vector<std::unique_ptr<kind>> kinds_;
  messenger messages_;  ///< destroyed first: what is under way still ends in the others
};

active_messages::active_messages(const communicator& over, task::detail::pool_base& pool)
    : work_(std::make_unique<implementation>(over, pool)) {}
active_messages::~active_messages() = default;

int active_messages::rank() const { return work_->rank(); }
int active_messages::size() const { return work_->size(); }

void active_messages::handle(task::task_name name, int tag, handler call) {
  work_->handle(name, tag, std::move(call));
}
void active_messages::post(std::vector<std::byte> bytes, int peer, int tag) {
  work_->post(std::move(bytes), peer, tag);
}
void active_messages::quiet() { work_->quiet(); }

}  // namespace plaq::comm
