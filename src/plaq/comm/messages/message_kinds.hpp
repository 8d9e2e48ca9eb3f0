// The messages that a messenger makes.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "plaq/comm/messages/message.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

/// A message whose future tells no more than that.
class told : public message {
 public:
  using message::message;
  void complete(const status& what) noexcept override { made.set_value(what); }
  void fail(std::exception_ptr why) noexcept override { made.set_exception(std::move(why)); }

  task::promise<status> made;
};

/// A message that brings its bytes along.
class packed final : public told {
 public:
  packed(int peer, int tag, std::vector<std::byte> bytes)
      : told(message_end::send, peer, tag), bytes_(std::move(bytes)) {
    where = {bytes_.data(), bytes_.size(), 1, bytes_.size()};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes a message that does not fit, so that those after it are not held up, and tells who waited for it.
class unfit final : public message {
 public:
  unfit(std::unique_ptr<message> who, std::exception_ptr why, std::size_t bytes)
      : message(who->call, who->peer, who->tag), who_(std::move(who)), why_(std::move(why)), sink_(bytes) {
    where = {sink_.data(), bytes, 1, bytes};
  }
  void complete(const status&) noexcept override { who_->fail(why_); }
  void fail(std::exception_ptr) noexcept override { who_->fail(why_); }

 private:
  std::unique_ptr<message> who_;
  std::exception_ptr why_;
  std::vector<std::byte> sink_;
};

/// Two ends that meet on this rank while a device copies from one to the other.
class handed final : public message {
 public:
  handed(std::unique_ptr<message> sender, std::unique_ptr<message> receiver)
      : message(receiver->call, receiver->peer, receiver->tag, receiver->where),
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
  std::unique_ptr<message> sender_, receiver_;
};

}  // namespace plaq::comm
