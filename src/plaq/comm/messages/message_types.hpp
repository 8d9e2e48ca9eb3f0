// Messages that a messenger makes.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "plaq/comm/messages/message.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

/// Message whose future has the status.
class status_message : public message {
 public:
  using message::message;
  void complete(const status& what) noexcept override { promise.set_value(what); }
  void fail(std::exception_ptr why) noexcept override { promise.set_exception(std::move(why)); }

  task::promise<status> promise;
};

/// Message that owns its bytes.
class packed_message final : public status_message {
 public:
  packed_message(int peer, int tag, std::vector<std::byte> bytes)
      : status_message(message_end::send, peer, tag), bytes_(std::move(bytes)) {
    where = {bytes_.data(), bytes_.size(), 1, bytes_.size()};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Receive of a message that does not fit. It takes the message, so that later ones are not delayed, and fails the
/// receive that was posted.
class misfit_message final : public message {
 public:
  misfit_message(std::unique_ptr<message> posted, std::exception_ptr why, std::size_t bytes)
      : message(posted->call, posted->peer, posted->tag),
        posted_(std::move(posted)),
        why_(std::move(why)),
        sink_(bytes) {
    where = {sink_.data(), bytes, 1, bytes};
  }
  void complete(const status&) noexcept override { posted_->fail(why_); }
  void fail(std::exception_ptr) noexcept override { posted_->fail(why_); }

 private:
  std::unique_ptr<message> posted_;
  std::exception_ptr why_;
  std::vector<std::byte> sink_;
};

/// Both ends of a message of this rank to itself, while a device copies from one to the other.
class self_message final : public message {
 public:
  self_message(std::unique_ptr<message> sender, std::unique_ptr<message> receiver)
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
