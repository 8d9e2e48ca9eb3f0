#include "plaq/comm/messages/window.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::comm::detail {

namespace {

constexpr int head_tag = 0;                 ///< of the head of every put
constexpr std::size_t most_in_head = 2048;  ///< bytes of values that travel with their head
constexpr int first_value_tag = 1;          ///< of values that travel alone, used in turn

/// Head of a put. Its values follow, or come with the tag `values`.
struct head {
  std::uint64_t offset, bytes;
  std::int32_t notification, values;
};

}  // namespace

class byte_window::implementation final : public listener {
 public:
  implementation(const communicator& over, std::span<std::byte> own) : own_(own), messages_(over) {
    const auto [least, most] = range_of_lengths();
    if (least != most)
      throw input_error("a window has one length on all ranks, not " + std::to_string(least) + " bytes on one and " +
                        std::to_string(most) + " on another; " + std::to_string(own.size()) + " on rank " +
                        std::to_string(rank()));
    messages_.listen(head_tag, *this);
  }
  ~implementation() {
    messages_.ignore(head_tag);
    fail(std::make_exception_ptr(runtime_failure("rank " + std::to_string(rank()) + ": its window was closed")));
  }

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }

  task::future<status> put(std::span<const std::byte> bytes, int peer, std::size_t offset, int notification) {
    need(notification);
    if (offset > own_.size() || bytes.size() > own_.size() - offset)
      throw input_error("a put of " + std::to_string(bytes.size()) + " bytes at byte " + std::to_string(offset) +
                        " of a window of " + std::to_string(own_.size()));
    head what{offset, bytes.size(), notification, 0};
    const bool together = bytes.size() <= most_in_head;
    if (!together) {
      const std::lock_guard lock(guard_);
      what.values = first_value_tag + int(sent_[peer]++ % std::uint32_t(last_tag - first_value_tag + 1));
    }
    std::vector<std::byte> packed(sizeof what + (together ? bytes.size() : 0));
    std::memcpy(packed.data(), &what, sizeof what);
    if (together && !bytes.empty()) std::memcpy(packed.data() + sizeof what, bytes.data(), bytes.size());
    auto sent = messages_.send(std::move(packed), peer, head_tag);
    return together ? std::move(sent) : messages_.isend(bytes, peer, what.values);
  }

  task::future<void> notified(int notification, std::size_t count) {
    need(notification);
    request fresh{count, {}};
    auto out = fresh.promise.get_future();
    std::vector<task::promise<void>> done;
    std::exception_ptr error;
    {
      const std::lock_guard lock(guard_);
      error = error_;
      if (!error) {
        counted& of = counted_[notification];
        of.requests.push_back(std::move(fresh));
        done = of.take();
      }
    }
    if (error) fresh.promise.set_exception(error);
    for (auto& promise : done) promise.set_value();
    return out;
  }

  std::unique_ptr<message> next(int peer) override { return std::make_unique<incoming_head>(*this, peer); }

 private:
  /// Puts of one number that have arrived and that no request has taken, and the requests, of which only the last have
  /// not enough.
  struct request {
    std::size_t count;
    task::promise<void> promise;
  };
  struct counted {
    std::size_t arrived = 0;
    std::deque<request> requests = {};

    std::vector<task::promise<void>> take() {
      std::vector<task::promise<void>> done;
      for (; !requests.empty() && requests.front().count <= arrived; requests.pop_front()) {
        arrived -= requests.front().count;
        done.push_back(std::move(requests.front().promise));
      }
      return done;
    }
  };

  /// Message of a put that fails the window.
  class incoming : public message {
   public:
    incoming(implementation& of, int peer, int tag, const blocks& to = {})
        : message(message_end::receive, peer, tag, to), of_(of) {}
    void fail(std::exception_ptr why) noexcept override { of_.fail(why); }

   protected:
    implementation& of_;
  };
  class incoming_head final : public incoming {
   public:
    incoming_head(implementation& of, int peer) : incoming(of, peer, head_tag) {}
    blocks room(std::size_t size) override {
      bytes_.resize(size);
      return {bytes_.data(), size, 1, size};
    }
    void complete(const status& what) noexcept override { of_.receive(bytes_, what.peer); }

   private:
    std::vector<std::byte> bytes_;
  };
  class incoming_values final : public incoming {
   public:
    incoming_values(implementation& of, int peer, const head& what, const blocks& to)
        : incoming(of, peer, what.values, to), notification_(what.notification) {}
    void complete(const status&) noexcept override { of_.notify(notification_); }

   private:
    int notification_;
  };

  void receive(std::span<const std::byte> packed, int peer) noexcept try {
    head what;
    std::memcpy(&what, packed.data(), sizeof what);
    std::byte* const to = own_.data() + what.offset;
    if (what.values > 0)
      return messages_.receive(
          std::make_unique<incoming_values>(*this, peer, what, blocks{to, what.bytes, 1, what.bytes}));
    if (what.bytes > 0) std::memcpy(to, packed.data() + sizeof what, what.bytes);
    notify(what.notification);
  } catch (...) {
    fail(std::current_exception());
  }

  void notify(int notification) noexcept {
    std::vector<task::promise<void>> done;
    {
      const std::lock_guard lock(guard_);
      counted& of = counted_[notification];
      ++of.arrived;
      done = of.take();
    }
    for (auto& promise : done) promise.set_value();
  }

  void fail(std::exception_ptr why) noexcept {
    std::unordered_map<int, counted> failed;
    {
      const std::lock_guard lock(guard_);
      if (error_) return;
      error_ = why;
      failed.swap(counted_);
    }
    for (auto& [number, of] : failed)
      for (auto& request : of.requests) request.promise.set_exception(why);
  }

  /// Returns the least and the largest length of the ranks. In round k a rank hears those of 2^k ranks before it.
  std::pair<std::uint64_t, std::uint64_t> range_of_lengths() {
    std::pair<std::uint64_t, std::uint64_t> all(own_.size(), own_.size());
    for (int distance = 1, tag = first_value_tag; distance < size(); distance *= 2, ++tag) {
      const auto sent = messages_.isend_object(all, (rank() + distance) % size(), tag);
      const auto others = messages_.irecv_object<decltype(all)>((rank() - distance + size()) % size(), tag).get();
      sent.wait();
      all = {std::min(all.first, others.first), std::max(all.second, others.second)};
    }
    return all;
  }

  static void need(int notification) {
    if (notification < 0) throw input_error("the notification " + std::to_string(notification) + " is negative");
  }

  const std::span<std::byte> own_;
  task::detail::spin_lock guard_;                ///< of what follows
  std::unordered_map<int, counted> counted_;     ///< by number
  std::unordered_map<int, std::uint32_t> sent_;  ///< puts whose values travel alone, by rank
  std::exception_ptr error_;
  messenger messages_;  ///< destroyed first: messages in progress still end in the others
};

byte_window::byte_window(const communicator& over, std::span<std::byte> own)
    : work_(std::make_unique<implementation>(over, own)) {}
byte_window::~byte_window() = default;

int byte_window::rank() const { return work_->rank(); }
int byte_window::size() const { return work_->size(); }

task::future<status> byte_window::put(std::span<const std::byte> bytes, int peer, std::size_t offset,
                                      int notification) {
  return work_->put(bytes, peer, offset, notification);
}

task::future<void> byte_window::notified(int notification, std::size_t count) {
  return work_->notified(notification, count);
}

}  // namespace plaq::comm::detail
