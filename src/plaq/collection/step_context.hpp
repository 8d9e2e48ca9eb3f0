// Context of a step: what it may do beside changing its element.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/collection/balance/load_distribution.hpp"
#include "plaq/collection/port.hpp"
#include "plaq/collection/runtime/host.hpp"

namespace plaq {

namespace elements {

/// Element of a collection, with its value of type T.
template <class T>
struct element_of final : element {
  element_of(key id, T&& given) : element(id), value(std::move(given)) { archive::check_fields(value); }
  // Of another type the class collection says what it lacks, so nothing here does.
  void pack_value(std::vector<std::byte>& to) const override {
    if constexpr (serializable<T>) archive::pack(value, to);
  }
  void unpack_value(comm::unpacker& from) override {
    if constexpr (serializable<T>) archive::unpack(value, from);
  }
  std::size_t size() const {
    if constexpr (serializable<T>)
      return archive::size(value);
    else
      return 0;
  }
  T value;
};

}  // namespace elements

/// Context that steps and handlers of an element share. One task uses it.
template <class T, elements::index_type Index>
class element_context {
 protected:
  using traits = elements::index_traits<Index>;

 public:
  /// Index of the element.
  Index index() const { return traits::from_key(of_.id); }
  /// Number of steps that the element has done.
  std::int64_t step() const { return of_.next_step; }
  /// Rank that the element is on.
  int rank() const { return owner_.rank(); }

  /// Sends a value to a handler of the element `to`, wherever it is.
  /// @pre There can be an element of this index (input_error).
  template <class V>
  void call(const handler<T, Index, V>& by, const Index& to, std::type_identity_t<V> value) {
    count(to, value);
    owner_.host_.send(std::make_unique<elements::message>(-1 - by.number_, 0, by.priority_, of_.id,
                                                          elements::message_value::of<V>(std::move(value))),
                      traits::to_key(to));
  }
  /// Counts work, in units of one's own, where loads are counted. @pre amount >= 0 (input_error).
  void work(double amount) {
    if (!(amount >= 0 && amount < plaq::balance::too_much))
      throw input_error("work(" + std::to_string(amount) + "): work is 0 or more");
    of_.load.work += amount;
  }

 protected:
  friend collection<T, Index>;
  element_context(elements::element& of, collection<T, Index>& owner) : of_(of), owner_(owner) {}
  /// Counts the bytes of a message, where they are counted.
  template <class V>
  void count(const Index& to, const V& value) {
    owner_.need(to);
    if (step() >= owner_.counts_bytes_from_) of_.load.count_bytes(traits::to_key(to), double(archive::size(value)));
  }
  elements::element& of_;
  collection<T, Index>& owner_;
};

/// Context of a step of an element. Lives as long as the step.
template <class T, elements::index_type Index>
class step_context : public element_context<T, Index> {
  using base = element_context<T, Index>;
  using base::owner_;
  using typename base::traits;

 public:
  /// Sends a value to the element `to`, for its first later step that takes from the port, wherever it is by then.
  /// Within a rank the value is moved, not packed.
  /// @pre There can be an element of this index (input_error).
  template <class V>
  void send(const port<T, Index, V>& by, const Index& to, std::type_identity_t<V> value) {
    this->count(to, value);
    owner_.host_.send(running_.make_message(by.number_, elements::message_value::of<V>(std::move(value))),
                      traits::to_key(to));
  }
  /// Overload for a value of another type.
  template <class V, class Wrong>
    requires(!std::convertible_to<Wrong, V>)
  void send(const port<T, Index, V>&, const Index&, Wrong&&) {
    constexpr bool converts = std::convertible_to<Wrong, V>;
    static_assert(converts, "the value that is sent has another type than the port");
  }
  /// Sends a copy of the value to each of several elements.
  template <class V, class Indices>
  void multicast(const port<T, Index, V>& by, const Indices& to, const V& value) {
    for (const Index& each : to) send(by, each, value);
  }

  /// Returns the messages that this step takes from the port, by sender, and in the order in which a sender sent them.
  /// Once: the values are moved.
  template <class V>
  std::vector<received<Index, V>> take(const port<T, Index, V>& by) {
    std::vector<received<Index, V>> out;
    elements::message_list* const all = running_.received(by.number_);
    if (!all) return out;
    out.reserve(all->size());
    for (; all->size() > 0; (void)all->take_first())
      out.push_back({traits::from_key(all->first()->from), all->first()->value.template take<V>()});
    return out;
  }

  /// Moves the element to a rank after this step. @pre 0 <= rank < size (checked at the end of the step).
  void move_to(int rank) { running_.destination = rank; }
  /// Inserts an element, which begins with the step after this one.
  /// @pre Elements of the collection come and go, and there is none of this index (input_error).
  void insert(const Index& at, T value) {
    owner_.host_.insert(std::make_unique<elements::element_of<T>>(traits::to_key(at), std::move(value)),
                        running_.now.number + 1);
  }
  /// Removes the element after this step. @pre Elements come and go (input_error), and it has taken all its messages
  /// (runtime_failure).
  void remove() { running_.removes = true; }

 private:
  friend collection<T, Index>;
  step_context(elements::running_step& running, collection<T, Index>& owner)
      : base(running.of, owner), running_(running) {}
  elements::running_step& running_;
};

}  // namespace plaq
