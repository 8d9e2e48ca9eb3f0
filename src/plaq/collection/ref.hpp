// Values that tasks own in turn: who may read and who may change follows from what each call asks for, never from
// a lock.
#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/task/deferred.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/pool.hpp"
#include "plaq/task/when.hpp"

namespace plaq {

/// What the owner of a ref may do, and so what its tasks may ask for.
enum class access {
  none,        ///< hand it on
  read,        ///< look, any number at once
  idempotent,  ///< change, where doing it again changes nothing more
  modify       ///< change
};

namespace elements {

constexpr bool may_read(access a) { return a != access::none; }
constexpr bool may_write(access a) { return a == access::modify || a == access::idempotent; }
/// Less or the same is given, never more.
constexpr bool gives(access has, access wanted) { return int(wanted) <= int(has); }

inline std::string at_line(std::source_location where) {
  std::string_view file = where.file_name();
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line());
}

/// The value, and what the tasks before have left to wait for.
template <class T>
struct cell {
  std::optional<T> value = {};
  std::optional<task::shared_future<void>> written = {};  ///< by the last that changes it
  std::vector<task::shared_future<void>> read = {};       ///< since then
};

template <class T, access A>
struct wanted;

/// A ref that is moved from, and where.
template <class Ref>
struct moved {
  moved(Ref&& from, std::source_location where = std::source_location::current()) : from(from), where(where) {}
  Ref& from;
  std::source_location where;
};

}  // namespace elements

/// A value of type T, or the place of one, owned by who has this. Move-only: what was moved from, or given to
/// work(), says so where it is used again, with both lines. One thread uses the refs of a value; tasks get
/// references.
template <class T, access A = access::modify>
class [[nodiscard]] ref {
 public:
  /// Without a value: it has to be made before it is read.
  explicit ref(std::source_location where = std::source_location::current())
    requires(A == access::modify)
      : cell_(std::make_shared<elements::cell<T>>()), made_(where) {}
  ref(ref&& other, std::source_location where = std::source_location::current())
      : cell_(other.release(where)), made_(other.made_), valued_(other.valued_) {}
  /// From a ref&&. An operator has no arguments of its own for the line, so a conversion brings it.
  ref& operator=(elements::moved<ref> other) {
    cell_ = other.from.release(other.where);
    made_ = other.from.made_;
    valued_ = other.from.valued_;
    return *this;
  }
  ref(const ref&) = delete;
  ref& operator=(const ref&)
    requires(sizeof(T) == 0)  // never, and not deleted: it would be taken before the conversion
  = default;

  /// Gives it a value now. Throws runtime_failure if it has one.
  void make(T value = T(), std::source_location where = std::source_location::current())
    requires(elements::may_write(A))
  {
    need(where);
    if (valued_)
      throw runtime_failure("a ref is given a value at " + elements::at_line(where) + ", but has one since " +
                                elements::at_line(*valued_),
                            where);
    cell_->value.emplace(std::move(value));
    valued_ = where;
  }

  /// The same value with less access; this one is used up.
  template <access B>
    requires(elements::gives(A, B))
  ref<T, B> with(std::source_location where = std::source_location::current()) && {
    return ref<T, B>(release(where), made_, valued_);
  }
  template <access B>
  void with() & = delete;  // a ref is used up: std::move(r).with<...>()

  /// Waits for the tasks that use it, throws what the first of them threw, and looks. The reference lives as long
  /// as this ref.
  const T& get(std::source_location where = std::source_location::current()) const&
    requires(elements::may_read(A))
  {
    need(where);
    need_value(where);
    if (cell_->written) cell_->written->get();
    for (const auto& done : cell_->read) done.get();
    return *cell_->value;
  }
  void get(std::source_location = {}) const&&
    requires(elements::may_read(A))
  = delete;  // it would end before it is looked at

 private:
  template <class, access>
  friend class ref;
  template <class U, access B>
  friend struct elements::wanted;

  ref(std::shared_ptr<elements::cell<T>> cell, std::source_location made, std::optional<std::source_location> valued)
      : cell_(std::move(cell)), made_(made), valued_(valued) {}

  void need(std::source_location where) const {
    if (!cell_)
      throw runtime_failure(
          "a ref is used at " + elements::at_line(where) + ", but was given away at " + elements::at_line(given_),
          where);
  }
  void need_value(std::source_location where) const {
    if (!valued_)
      throw runtime_failure("a ref is read at " + elements::at_line(where) +
                                ", but has no value since it was made at " + elements::at_line(made_),
                            where);
  }
  std::shared_ptr<elements::cell<T>> release(std::source_location where) {
    need(where);
    given_ = where;
    return std::move(cell_);
  }

  std::shared_ptr<elements::cell<T>> cell_;
  std::source_location made_, given_ = {};
  std::optional<std::source_location> valued_;  ///< where it got its value, or a task was to give it one
};

namespace elements {

/// A ref on its way into work(), and how it comes back.
template <class T, access A>
struct wanted {
  static constexpr bool writes = may_write(A);
  using argument = std::conditional_t<writes, T&, const T&>;

  std::shared_ptr<cell<T>> of;
  std::source_location made, asked;
  std::optional<std::source_location> valued;

  template <access Has>
  static wanted from(ref<T, Has>&& r, std::source_location where) {
    if (!writes || A == access::idempotent) r.need(where), r.need_value(where);
    const auto made = r.made_;
    const auto valued = r.valued_;
    return {r.release(where), made, where, valued};
  }
  template <access Has>
  ref<T, Has> back() const {
    return ref<T, Has>(of, made, valued || !writes ? valued : asked);
  }
  argument operator*() const {
    if constexpr (writes && std::default_initializable<T>)
      if (!of->value) of->value.emplace();
    if (!of->value)
      throw runtime_failure("a ref is to be changed at " + at_line(asked) + ", but has no value since it was made at " +
                                at_line(made) + "; make() it first",
                            asked);
    return *of->value;
  }
  /// What has to end before.
  void after(std::vector<task::shared_future<void>>& before) const {
    if (of->written) before.push_back(*of->written);
    if (writes) before.insert(before.end(), of->read.begin(), of->read.end());
  }
  void until(const task::shared_future<void>& done) const {
    if (writes) {
      of->written = done;
      of->read.clear();
    } else {
      of->read.push_back(done);
    }
  }
};

template <class T, access Has, access A>
struct use {
  static constexpr access has = Has;
  wanted<T, A> what;
};

}  // namespace elements

/// For work(): the task looks at it; any number may at once.
template <class T, access Has>
  requires(elements::may_read(Has))
elements::use<T, Has, access::read> read(ref<T, Has>&& r,
                                         std::source_location where = std::source_location::current()) {
  return {elements::wanted<T, access::read>::from(std::move(r), where)};
}
/// For work(): the task has it for itself and changes it; where it has no value yet, it begins as T().
template <class T, access Has>
  requires(Has == access::modify)
elements::use<T, Has, access::modify> modify(ref<T, Has>&& r,
                                             std::source_location where = std::source_location::current()) {
  return {elements::wanted<T, access::modify>::from(std::move(r), where)};
}
/// For work(): as modify, but it may be done again, so it needs no more than that access.
template <class T, access Has>
  requires(elements::may_write(Has))
elements::use<T, Has, access::idempotent> idempotent(ref<T, Has>&& r,
                                                     std::source_location where = std::source_location::current()) {
  return {elements::wanted<T, access::idempotent>::from(std::move(r), where)};
}
template <class T, access Has>
void read(ref<T, Has>& r) = delete;  // a ref is used up, and comes back from work(): read(std::move(r))
template <class T, access Has>
void modify(ref<T, Has>& r) = delete;  // modify(std::move(r))
template <class T, access Has>
void idempotent(ref<T, Has>& r) = delete;  // idempotent(std::move(r))

/// f(a, b, ...) as a task, once all before it that change what it uses, and all that look at what it changes, have
/// ended. Gives the refs back at once, with the access that they had; one as itself, several as a tuple. An error
/// comes out of get(), and of what uses the value afterwards.
template <class F, class... T, access... Has, access... A>
  requires std::invocable<F&, typename elements::wanted<T, A>::argument...>
auto work(task::detail::pool_base& pool, task::task_name name, F f, elements::use<T, Has, A>... uses) {
  std::vector<task::shared_future<void>> before;
  (uses.what.after(before), ...);
  const task::shared_future<void> done =
      task::when_all(std::move(before)).then(pool, name, [f = std::move(f), ... what = uses.what](auto ready) mutable {
        for (const auto& one : ready.get()) one.get();  // what failed before fails this too
        f(*what...);
      });
  (uses.what.until(done), ...);
  if constexpr (sizeof...(T) == 1)
    return (uses.what.template back<Has>(), ...);
  else
    return std::tuple<ref<T, Has>...>(uses.what.template back<Has>()...);
}

/// The same where `when` becomes true; otherwise the values stay as they are. The task waits for `when`, too.
template <class F, class... Use>
auto work_if(task::detail::pool_base& pool, task::task_name name, task::shared_future<bool> when, F f, Use... uses) {
  return work(
      pool, name,
      [when, f = std::move(f)](auto&&... values) mutable {
        if (when.get()) f(std::forward<decltype(values)>(values)...);
      },
      std::move(uses)...);
}

}  // namespace plaq
