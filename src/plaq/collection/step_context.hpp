// Context of a step: what it may do beside changing its element.
#pragma once
#include <algorithm>
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
template <serializable T>
struct element_of final : element {
  element_of(key id, T&& given) : element(id), value(std::move(given)) { archive::check_fields(value); }
  void pack_value(std::vector<std::byte>& to) const override { archive::pack(value, to); }
  void unpack_value(comm::unpacker& from) override { archive::unpack(value, from); }
  T value;
};

}  // namespace elements

/// Context of a step of an element. Lives as long as the step; one task uses it.
template <serializable T, elements::index_type Index>
class step_context {
  using traits = elements::index_traits<Index>;

 public:
  /// Index of the element.
  Index index() const { return traits::from_key(running_.of.id); }
  /// Number of steps that the element has done.
  std::int64_t step() const { return running_.now.number; }
  /// Rank that the element is on.
  int rank() const { return owner_.rank(); }

  /// Sends a value to the element `to`, for its first later step that takes from the port, wherever it is by then.
  /// Within a rank the value is moved, not packed.
  /// @pre There can be an element of this index (input_error).
  template <class V>
  void send(const port<T, Index, V>& by, const Index& to, std::type_identity_t<V> value) {
    owner_.need(to);
    const auto key = traits::to_key(to);
    if (step() >= owner_.counts_bytes_from_) running_.of.load.count_bytes(key, double(archive::size(value)));
    owner_.host_.send(running_.make_message(by.number_, elements::message_value::of<V>(std::move(value))), key);
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
  /// Counts work, in units of one's own, where loads are counted. @pre amount >= 0 (input_error).
  void work(double amount) {
    if (!(amount >= 0 && amount < plaq::balance::too_much))
      throw input_error("work(" + std::to_string(amount) + "): work is 0 or more");
    running_.of.load.work += amount;
  }

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
  step_context(elements::running_step& running, collection<T, Index>& owner) : running_(running), owner_(owner) {}
  elements::running_step& running_;
  collection<T, Index>& owner_;
};

}  // namespace plaq
