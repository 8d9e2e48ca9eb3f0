// Collections that share one communicator.
#pragma once
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "plaq/comm/messages/active_messages.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/pool.hpp"

namespace plaq {

namespace elements {

/// Carrier of the messages of a collection: active messages, of which tags from `first_tag` are its own.
struct carrier {
  std::shared_ptr<comm::active_messages> messages;
  task::detail::pool_base& pool;
  int first_tag;
};

/// Active messages of one collection, whose handlers end with it.
class own_messages {
 public:
  explicit own_messages(carrier by) : by_(std::move(by)) {}
  ~own_messages();
  own_messages(const own_messages&) = delete;

  int rank() const { return by_.messages->rank(); }
  int size() const { return by_.messages->size(); }
  template <comm::packable V, class F>
  void on(task::task_name name, int tag, F f) {
    by_.messages->on<V>(name, by_.first_tag + tag, std::move(f));
  }
  template <comm::packable V>
  void send(const V& value, int peer, int tag) {
    by_.messages->send(value, peer, by_.first_tag + tag);
  }
  std::stop_token stopping() const { return by_.messages->stopping(); }
  std::string in_progress() const { return by_.messages->in_progress(); }

 private:
  const carrier by_;
};

}  // namespace elements

/// Collections over one duplicate of a communicator, which otherwise each collection makes: `collection_group
/// all(world, pool); collection<cell> a("a", all, homes, make);`. Making a collection of a group calls nothing of MPI
/// and waits for no rank. All ranks make the same collections in the same order, at most `most` over the life of the
/// group, which outlives them. An error of MPI ends all collections of a group; an error of an element ends its own.
class collection_group {
 public:
  /// Makes a group without collections. Collective. Tasks run on `pool`, which outlives the group.
  collection_group(const comm::communicator& over, task::detail::pool_base& pool);

  int rank() const { return messages_->rank(); }
  int size() const { return messages_->size(); }

  /// Number of collections that a group can make.
  static const int most;

  /// Returns the carrier of the next collection. Throws input_error if there have been `most`.
  elements::carrier next() const;

 private:
  const std::shared_ptr<comm::active_messages> messages_;
  task::detail::pool_base& pool_;
  mutable int made_ = 0;
};

}  // namespace plaq
