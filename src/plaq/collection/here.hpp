// What a step of an element may do.
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
#include "plaq/collection/balance/situation.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/port.hpp"

namespace plaq {

namespace elements {

template <serializable T>
struct element_of final : element {
  element_of(key at, T&& value) : element(at), value(std::move(value)) {}
  void pack_value(std::vector<std::byte>& to) const override { archive::pack(value, to); }
  void unpack_value(comm::unpacker& from) override { archive::unpack(value, from); }
  T value;
};

}  // namespace elements

/// What a step may do beside changing its element. Lives as long as the step; one task uses it.
template <serializable T, elements::index_type Index>
class here {
  using traits = elements::index_traits<Index>;

 public:
  /// Which element this is.
  Index index() const { return traits::from_key(visit_.who().at); }
  /// How many steps it has done.
  std::int64_t step() const { return visit_.now().at; }
  int rank() const { return visit_.of().rank(); }

  /// For the first step after this one in which `to` takes from the port, wherever it is by then. Within a rank the
  /// value goes over as it is. Throws input_error if there can be no such element.
  template <class V>
  void send(const port<T, Index, V>& by, const Index& to, std::type_identity_t<V> value) {
    owner_.need(to);
    const auto key = traits::to_key(to);
    if (step() >= owner_.counts_bytes_from_) visit_.count_bytes(key, double(archive::size(value)));
    visit_.send(by.number_, key, std::make_unique<elements::typed<V>>(std::move(value)));
  }
  /// The same to several.
  template <class V, class Indices>
  void multicast(const port<T, Index, V>& by, const Indices& to, const V& value) {
    for (const Index& each : to) send(by, each, value);
  }

  /// What this step takes from the port: by sender, and those of one sender in their order. Once.
  template <class V>
  std::vector<received<Index, V>> take(const port<T, Index, V>& by) {
    std::vector<received<Index, V>> out;
    auto& all = visit_.received;
    const auto first = std::ranges::lower_bound(all, by.number_, {}, &elements::message::port);
    for (auto m = first; m != all.end() && m->port == by.number_; ++m) {
      const Index from = traits::from_key(m->from);
      if (auto& what = *m->value; typeid(what) == typeid(elements::typed<V>))  // quicker than dynamic_cast
        out.push_back({from, std::move(static_cast<elements::typed<V>&>(what).value)});
      else
        out.push_back({from, elements::unpack<V>(static_cast<elements::packed&>(*m->value).bytes)});
    }
    return out;
  }

  /// After this step the element goes on at that rank.
  void move_to(int rank) { visit_.go_to = rank; }
  /// Work done, in units of one's own, where loads are counted. Throws input_error unless it is 0 or more.
  void work(double amount) {
    if (!(amount >= 0 && amount < plaq::balance::too_much))
      throw input_error("work(" + std::to_string(amount) + "): work is 0 or more");
    visit_.who().spent.work += amount;
  }

  /// An element more, which begins with the step after this one.
  void insert(const Index& at, T value) {
    visit_.of().insert(std::make_unique<elements::element_of<T>>(traits::to_key(at), std::move(value)),
                       visit_.now().at + 1);
  }
  /// After this step the element is no more.
  void remove() { visit_.goes = true; }

 private:
  friend collection<T, Index>;
  here(elements::visit& of, collection<T, Index>& owner) : visit_(of), owner_(owner) {}
  elements::visit& visit_;
  collection<T, Index>& owner_;
};

}  // namespace plaq
