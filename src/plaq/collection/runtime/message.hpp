// Messages between elements, and the queues in which they wait for a step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/task/blocks.hpp"

namespace plaq::elements {

/// Number of ports that a collection can have.
inline constexpr int most_ports = 1 << 20;

/// Value of a message that is not in place: typed within a rank, packed between ranks.
class payload : public task::detail::in_blocks {
 public:
  virtual ~payload() = default;
  virtual void pack(std::vector<std::byte>& to) const = 0;
};
template <class V>
struct typed_payload final : payload {
  explicit typed_payload(V&& v) : value(std::move(v)) {}
  void pack(std::vector<std::byte>& to) const override { archive::pack(value, to); }
  V value;
};
struct packed_payload final : payload {
  explicit packed_payload(std::span<const std::byte> from) : bytes(from.begin(), from.end()) {}
  void pack(std::vector<std::byte>& to) const override { to.insert(to.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::byte> bytes;
};

/// Value of a message. A few bytes, of a plain type or packed, are in place: no other memory is allocated.
class message_value {
 public:
  static constexpr std::size_t most_in_place = 24;
  template <class V>
  static constexpr bool in_place = plain<V> && sizeof(V) <= most_in_place;

  message_value() = default;
  message_value(message_value&& other) noexcept : size_(std::exchange(other.size_, 0)) {
    std::memcpy(here_, other.here_, most_in_place);
  }
  message_value& operator=(message_value&&) = delete;
  ~message_value() {
    if (size_ == elsewhere) delete moved_out();
  }

  template <class V>
  static message_value of(V&& value) {
    using T = std::remove_cvref_t<V>;
    message_value out;
    if constexpr (in_place<T>)
      out.put(&value, sizeof(T));
    else
      out.put(new typed_payload<T>(std::move(value)));
    return out;
  }
  static message_value packed(std::span<const std::byte> bytes) {
    message_value out;
    if (bytes.size() <= most_in_place)
      out.put(bytes.data(), bytes.size());
    else
      out.put(new packed_payload(bytes));
    return out;
  }

  void pack(std::vector<std::byte>& to) const {
    if (size_ == elsewhere) return moved_out()->pack(to);
    to.insert(to.end(), here_, here_ + size_);
  }
  /// Moves the value out. @pre It was a V, or is a packed V (runtime_failure).
  template <class V>
  V take() {
    if constexpr (in_place<V>)
      if (size_ == sizeof(V)) {
        V out;
        std::memcpy(&out, here_, sizeof out);
        return out;
      }
    if (size_ != elsewhere) return unpack<V>(std::span(here_, size_));
    payload& value = *moved_out();
    if (typeid(value) == typeid(typed_payload<V>))  // quicker than dynamic_cast
      return std::move(static_cast<typed_payload<V>&>(value).value);
    return unpack<V>(static_cast<packed_payload&>(value).bytes);
  }

 private:
  static constexpr std::uint32_t elsewhere = ~0u;

  void put(const void* bytes, std::size_t n) {
    size_ = std::uint32_t(n);
    if (n > 0) std::memcpy(here_, bytes, n);
  }
  void put(payload* owned) {
    put(&owned, sizeof owned);
    size_ = elsewhere;
  }
  payload* moved_out() const {
    payload* out = nullptr;
    std::memcpy(&out, here_, sizeof out);
    return out;
  }
  alignas(8) std::byte here_[most_in_place]{};
  std::uint32_t size_ = 0;  ///< number of bytes in place; `elsewhere`: a pointer
};

/// Message from one element to another: by a port, taken in a later step than it was sent in; or to a handler, whose
/// number is -1 - port, and `step` its priority.
struct message : task::detail::in_blocks {
  int port = 0;
  std::uint32_t order = 0;  ///< among the messages of its sender and step
  step_number step = 0;     ///< in which it was sent
  key from = 0;
  message_value value = {};
  message* next = nullptr;  ///< of the list that it is in

  message() = default;
  message(int port, std::uint32_t order, step_number step, key from, message_value value)
      : port(port), order(order), step(step), from(from), value(std::move(value)) {}
};
static_assert(sizeof(message) == 64);

/// List of messages, in the order in which they were added. Owns them.
class message_list {
 public:
  message_list() = default;
  message_list(message_list&& other) noexcept { swap(other); }
  message_list& operator=(message_list&& other) noexcept {
    message_list(std::move(other)).swap(*this);
    return *this;
  }
  ~message_list() { clear(); }

  std::size_t size() const { return size_; }
  message* first() const { return first_; }
  message* last() const { return last_; }
  void add(std::unique_ptr<message> what) {
    message* const added = what.release();
    (last_ ? last_->next : first_) = added;
    last_ = added;
    ++size_;
  }
  void append(message_list&& other) {
    if (!other.first_) return;
    (last_ ? last_->next : first_) = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
    size_ += std::exchange(other.size_, 0);
  }
  /// Inserts a message to a handler after those of its priority and of higher ones.
  void add_by_priority(std::unique_ptr<message> what) {
    message** at = &first_;
    if (last_ && last_->step >= what->step) return add(std::move(what));
    while (*at && (*at)->step >= what->step) at = &(*at)->next;
    what->next = *at;
    if (!*at) last_ = what.get();
    *at = what.release();
    ++size_;
  }
  std::unique_ptr<message> take_first() {
    std::unique_ptr<message> out(first_);
    first_ = std::exchange(out->next, nullptr);
    if (!first_) last_ = nullptr;
    --size_;
    return out;
  }
  void clear() {
    while (first_) delete std::exchange(first_, first_->next);
    last_ = nullptr;
    size_ = 0;
  }
  /// Puts the messages in the order of sender, step and number, which they mostly have.
  void sort();

 private:
  void swap(message_list& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
  }
  message* first_ = nullptr;
  message* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Messages of one port of an element that no step has taken, by the step in which they were sent. What it costs to add
/// and to take depends on the messages taken, not on those that wait for later steps.
class port_queue {
 public:
  step_number taken_until = 0;  ///< messages of earlier steps have been taken

  bool empty() const { return front_ == steps_.size(); }
  void add(std::unique_ptr<message> what);
  /// Number of messages sent before a step.
  std::size_t count_before(step_number step) const {
    std::size_t out = 0;
    for (std::size_t i = front_; i < steps_.size() && steps_[i].step < step; ++i) out += steps_[i].messages.size();
    return out;
  }
  /// Removes and returns the messages sent before a step.
  message_list take_before(step_number step);
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t i = front_; i < steps_.size(); ++i)
      for (const message* m = steps_[i].messages.first(); m; m = m->next) use(*m);
  }

 private:
  struct of_step {
    step_number step;
    message_list messages;
  };
  std::vector<of_step> steps_;  ///< in the order of steps; those before front_ are empty
  std::size_t front_ = 0;
};

}  // namespace plaq::elements
