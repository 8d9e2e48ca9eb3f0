// Values that tasks own in turn. Access follows from what each call asks for, without locks.
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

/// Access of the owner of a ref, and so what its tasks may ask for.
enum class access {
  none,        ///< pass it on
  read,        ///< any number at once
  idempotent,  ///< change, with the same result if repeated
  modify       ///< change
};

namespace elements {

/// Returns whether the access allows reading.
constexpr bool may_read(access a) { return a != access::none; }
/// Returns whether the access allows a change.
constexpr bool may_write(access a) { return a == access::modify || a == access::idempotent; }
/// Whether an owner with access `has` can give `wanted`: the same or less.
constexpr bool gives(access has, access wanted) { return int(wanted) <= int(has); }

/// Returns a place in the source as "file.cpp:12", without folders.
inline std::string at_line(std::source_location where) {
  std::string_view file = where.file_name();
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line());
}

/// Value with the tasks to wait for before it is used.
template <class T>
struct cell {
  std::optional<T> value = {};
  std::optional<task::shared_future<void>> written = {};  ///< by the last task that changes it
  std::vector<task::shared_future<void>> read = {};       ///< by tasks after that
};

template <class T, access A>
struct wanted;

/// Ref that is moved from, and the source line.
template <class Ref>
struct moved {
  moved(Ref&& from, std::source_location where = std::source_location::current()) : from(from), where(where) {}
  Ref& from;
  std::source_location where;
};

}  // namespace elements

/// Owner of a value of type T, or of the storage for one. Move-only: use of a ref that was moved from, or passed to
/// work(), throws runtime_failure with both source lines. One thread uses the refs of a value; tasks get references.
template <class T, access A = access::modify>
class [[nodiscard]] ref {
 public:
  /// Ref without a value, which has to be made before it is read.
  explicit ref(std::source_location where = std::source_location::current())
    requires(A == access::modify)
      : cell_(std::make_shared<elements::cell<T>>()), made_(where) {}
  ref(ref&& other, std::source_location where = std::source_location::current())
      : cell_(other.release(where)), made_(other.made_), valued_(other.valued_) {}
  /// Assigns from a ref&&. An operator has no argument for the source line, so a conversion brings it.
  ref& operator=(elements::moved<ref> other) {
    cell_ = other.from.release(other.where);
    made_ = other.from.made_;
    valued_ = other.from.valued_;
    return *this;
  }
  ref(const ref&) = delete;
  ref& operator=(const ref&)
    requires(sizeof(T) == 0)  // never; if it were deleted, it would be chosen before the conversion
  = default;

  /// Sets the value. @pre It has none (runtime_failure).
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

  /// Returns a ref to the value with less access, and consumes this one.
  template <access B>
  ref<T, B> with(std::source_location where = std::source_location::current()) && {
    static_assert(elements::gives(A, B), "a ref gives its own access or less");
    return ref<T, B>(release(where), made_, valued_);
  }
  template <access B>
  void with() & = delete;  // a ref is consumed: std::move(r).with<...>()

  /// Waits for the tasks that use the value, throws what the first of them threw, and returns a reference that lives as
  /// long as this ref. @pre It has a value (runtime_failure).
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
  = delete;  // the value would end before it is read

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
  std::optional<std::source_location> valued_;  ///< line that sets the value, or passes it to a task
};

namespace elements {

/// Ref as an argument of work(), and its return.
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
  /// Appends the tasks that have to end first.
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

/// Argument of work(): a ref of access Has, and the access A that its task asks for.
template <class T, access Has, access A>
struct use {
  static constexpr access has = Has;
  wanted<T, A> what;
};

}  // namespace elements

/// Argument of work(): the task reads the value; any number may at once.
template <class T, access Has>
elements::use<T, Has, access::read> read(ref<T, Has>&& r,
                                         std::source_location where = std::source_location::current()) {
  static_assert(elements::may_read(Has), "read() takes a ref that may be read, not one with access::none");
  return {elements::wanted<T, access::read>::from(std::move(r), where)};
}
/// Argument of work(): the task changes the value, alone. A ref without a value begins as T().
template <class T, access Has>
elements::use<T, Has, access::modify> modify(ref<T, Has>&& r,
                                             std::source_location where = std::source_location::current()) {
  static_assert(Has == access::modify, "modify() takes a ref with access::modify");
  return {elements::wanted<T, access::modify>::from(std::move(r), where)};
}
/// Argument of work(): the task changes the value, with the same result if repeated.
template <class T, access Has>
elements::use<T, Has, access::idempotent> idempotent(ref<T, Has>&& r,
                                                     std::source_location where = std::source_location::current()) {
  static_assert(elements::may_write(Has), "idempotent() takes a ref with access::modify or access::idempotent");
  return {elements::wanted<T, access::idempotent>::from(std::move(r), where)};
}
/// Rejects a ref that is not moved, since work() takes it over and returns it: read(std::move(r)).
template <class T, access Has>
void read(ref<T, Has>& r) = delete;  // a ref is consumed, and work() returns it: read(std::move(r))
/// Rejects a ref that is not moved, since work() takes it over and returns it: modify(std::move(r)).
template <class T, access Has>
void modify(ref<T, Has>& r) = delete;  // modify(std::move(r))
/// Rejects a ref that is not moved, since work() takes it over and returns it: idempotent(std::move(r)).
template <class T, access Has>
void idempotent(ref<T, Has>& r) = delete;  // idempotent(std::move(r))

/// Runs f(a, b, ...) as a task, after earlier tasks that change what it reads, or use what it changes. Returns the refs
/// at once, with their access; several as a tuple. An error of f is thrown by get(), and fails later tasks that use the
/// value.
template <class F, class... T, access... Has, access... A>
auto work(task::detail::pool_base& pool, task::task_name name, F f, elements::use<T, Has, A>... uses) {
  constexpr bool fits = std::invocable<F&, typename elements::wanted<T, A>::argument...>;
  static_assert(fits, "f is called with the values: const T& of read(), T& of modify() and idempotent()");
  std::vector<task::shared_future<void>> before;
  (uses.what.after(before), ...);
  const task::shared_future<void> done =
      task::when_all(std::move(before)).then(pool, name, [f = std::move(f), ... what = uses.what](auto ready) mutable {
        for (const auto& one : ready.get()) one.get();  // an earlier failure fails this task too
        if constexpr (fits) f(*what...);
      });
  (uses.what.until(done), ...);
  if constexpr (sizeof...(T) == 1)
    return (uses.what.template back<Has>(), ...);
  else
    return std::tuple<ref<T, Has>...>(uses.what.template back<Has>()...);
}

/// Runs work() if `when` becomes true, otherwise leaves the values unchanged. The task waits for `when`, too.
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
