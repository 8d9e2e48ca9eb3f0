#include "plaq/comm/collectives/operations.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/byte_executor.hpp"
#include "plaq/comm/wire/traffic.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::comm {

struct operations::active_operation {
  active_operation(prepared_operation&& fresh, wire& over) : what(std::move(fresh)), steps(over) {}
  prepared_operation what;
  std::uint64_t number = 0;  ///< of the call
  std::vector<std::byte> scratch;
  std::byte token{};  ///< byte of a barrier, without meaning
  byte_executor steps;
  schedule_runner runner;
  std::optional<task::promise<void>> promise;

  /// Advances the schedule. Returns whether it is done.
  bool progress() {
    if (!runner.progress()) return false;
    if (what.at_end) what.at_end();
    return true;
  }
};

/// Returns the current exception, with the name of the call if it has one: a message of unexpected length means that
/// ranks do not make the same call.
static std::exception_ptr error_of(const collective_call& what) {
  try {
    throw;
  } catch (const runtime_failure& error) {
    if (what.name.empty()) return std::current_exception();
    std::string text = error.what();
    const auto position = std::min(text.rfind(" ["), text.size());
    text.insert(position, "; in " + what.in_words() + ", which all ranks must call with the same arguments");
    return std::make_exception_ptr(runtime_failure(text));
  } catch (...) {
    return std::current_exception();
  }
}

operations::operations(std::unique_ptr<wire> over) : wire_(std::move(over)) { start_polling(); }

operations::~operations() {
  call_registry::leave(*this);
  stop_polling();
  std::vector<ended> all;
  for (auto& f : active_) {
    const auto what = "rank " + std::to_string(rank()) + ": " + std::string(f->what.name.view());
    const auto why = what + ": its collectives were destroyed";
    all.push_back({std::move(f), std::make_exception_ptr(runtime_failure(why))});
  }
  complete(all);
}

std::unique_ptr<operations::active_operation> operations::begin(prepared_operation&& what) {
  std::unique_ptr<active_operation> fresh;
  if (spare_.empty()) {
    fresh = std::make_unique<active_operation>(std::move(what), *wire_);
  } else {
    fresh = std::move(spare_.back());
    spare_.pop_back();
    fresh->what = std::move(what);
  }
  const auto& todo = *fresh->what.todo;
  if (fresh->scratch.size() < todo.scratch) fresh->scratch.resize(todo.scratch);
  generation_ = generation_ == last_tag ? 0 : generation_ + 1;
  fresh->number = calls_.count();
  calls_.add(fresh->what.call);
  std::byte* const output = fresh->what.output.data();
  const byte_executor::buffers at{fresh->what.input.data(), output ? output : &fresh->token, fresh->scratch.data()};
  fresh->steps.begin(generation_, at, fresh->what.combine);
  fresh->runner.begin(todo, fresh->steps);
  traffic::count_collective(fresh->what.input.empty() ? fresh->what.output.size() : fresh->what.input.size());
  return fresh;
}

void operations::keep(std::unique_ptr<active_operation> done) {
  constexpr std::size_t most = 8;
  if (spare_.size() == most) return;
  done->what.todo.reset();
  done->what.combine = nullptr;
  done->what.at_end = nullptr;
  spare_.push_back(std::move(done));
}

void operations::run(prepared_operation what) {
  const trace::region whole(what.name);
  std::unique_ptr<active_operation> own;
  for (task::detail::message_pace pace;; pace.wait()) {
    {
      std::lock_guard lock(guard_);
      if (!own) in_run_ = (own = begin(std::move(what))).get();
      try {
        if (own->progress()) {
          in_run_ = nullptr;
          return keep(std::move(own));
        }
      } catch (...) {
        in_run_ = nullptr;
        const auto what = own->what.call;
        own.reset();  // cancels its messages, with the lock
        std::rethrow_exception(error_of(what));
      }
    }
    task::detail::poll_once();  // the other ranks may wait for other messages of this one
  }
}

task::future<void> operations::start(prepared_operation what) {
  task::promise<void> promise;
  auto result = promise.get_future();
  std::exception_ptr error;
  bool first = false;
  const collective_call call = what.call;
  {
    std::lock_guard lock(guard_);
    try {
      auto fresh = begin(std::move(what));
      if (fresh->progress()) {
        keep(std::move(fresh));
        promise.set_value();
        return result;
      }
      active_.push_back(std::move(fresh));
      active_.back()->promise = std::move(promise);
      first = expect(1);
    } catch (...) {
      error = error_of(call);
    }
  }
  if (error) promise.set_exception(error);
  if (first) wake_pools();
  return result;
}

void operations::answer_for(std::uint64_t group, std::shared_ptr<const group_layout> layout) {
  {
    std::lock_guard lock(guard_);
    group_ = group;
    layout_ = std::move(layout);
  }
  call_registry::enter(*this);
}

call_record operations::calls() const {
  std::lock_guard lock(guard_);
  return calls_;
}

std::vector<operations::open_call> operations::open() const {
  std::lock_guard lock(guard_);
  std::vector<open_call> out;
  const auto add = [&](const active_operation& f) {
    open_call& fresh = out.emplace_back(f.number, f.what.call, std::vector<int>{});
    const auto peers = f.steps.open();
    for (const auto& some : {peers.from, peers.to})
      for (const int peer : some) fresh.awaited.push_back((*layout_->members)[peer]);
  };
  for (const auto& f : active_) add(*f);
  if (in_run_) add(*in_run_);
  return out;
}

std::string operations::in_words() const {
  std::lock_guard lock(guard_);
  std::string text;
  const auto add = [&](const active_operation& f) {
    text += (text.empty() ? "" : ", ") + std::string(f.what.name.view()) + " (" + f.steps.open().in_words() + ")";
  };
  for (const auto& f : active_) add(*f);
  if (in_run_) add(*in_run_);
  return text;
}

bool operations::poll() noexcept {
  std::vector<ended> all;
  {
    std::unique_lock lock(guard_, std::try_to_lock);
    if (!lock) return false;
    for (std::size_t i = 0; i < active_.size();) {
      std::exception_ptr error;
      try {
        if (!active_[i]->progress()) {
          ++i;
          continue;
        }
      } catch (...) {
        error = error_of(active_[i]->what.call);
      }
      all.push_back({std::move(active_[i]), error});
      active_.erase(active_.begin() + std::ptrdiff_t(i));
    }
  }
  if (all.empty()) return false;
  complete(all);
  return true;
}

void operations::complete(std::vector<ended>& all) noexcept {
  delivered(static_cast<long>(all.size()));
  for (auto& [which, error] : all) {
    auto promise = std::move(*which->promise);
    which->promise.reset();
    {
      std::lock_guard lock(guard_);
      if (error)
        which.reset();
      else
        keep(std::move(which));
    }
    if (error)
      promise.set_exception(error);
    else
      promise.set_value();
  }
}

}  // namespace plaq::comm
