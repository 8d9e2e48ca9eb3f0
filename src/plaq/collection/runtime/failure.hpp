// First failure of a collection on a rank.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// State of a rank: sound, or failed with the first failure of any rank. No work begins after a failure.
class failure_state {
 public:
  /// `source`: rank and collection, for failures without words of their own. `report` is called with the first failure
  /// that is raised here.
  failure_state(std::string source, std::function<void(const std::string&)> report)
      : source_(std::move(source)), report_(std::move(report)) {}

  bool sound() const { return sound_; }
  /// Begins no further work, without a failure: at the end.
  void stop() { sound_ = false; }
  /// Reports a failure of this rank. `why` names rank and collection.
  void raise(const std::string& why) noexcept {
    if (sound_.exchange(false)) report_(why);
  }
  /// Reports a failure; prepends rank and collection.
  void raise_here(const std::string& why) noexcept { raise(source_ + ": " + why); }
  /// Keeps the failure, of this rank or another, if it is the first.
  void set(const std::string& why) {
    sound_ = false;
    std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
  }
  /// Throws runtime_failure after a failure.
  void rethrow() const {
    std::lock_guard lock(mutex_);
    if (!why_.empty()) throw runtime_failure(why_);
  }
  /// Calls work() unless there is a failure; an exception becomes one.
  template <class Work>
  void guard(Work&& work) noexcept {
    if (!sound_) return;
    try {
      work();
    } catch (const std::bad_alloc&) {
      raise_here("out of memory");
    } catch (const std::exception& error) {
      raise(error.what());
    } catch (...) {
      raise_here("an exception that is not a std::exception");
    }
  }

 private:
  const std::string source_;
  const std::function<void(const std::string&)> report_;
  std::atomic<bool> sound_{true};
  mutable task::mutex mutex_;
  std::string why_;
};

}  // namespace plaq::elements
