#include "plaq/comm/collectives/operations.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/byte_executor.hpp"
#include "plaq/comm/wire/traffic.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::comm {

struct operations::flight {
  flight(operation_to_do&& fresh, wire& over) : what(std::move(fresh)), steps(over) {}
  operation_to_do what;
  std::uint64_t number = 0;  ///< of the call
  std::vector<std::byte> scratch;
  std::byte token{};  ///< what a barrier sends and receives; nobody looks at it
  byte_executor steps;
  engine moves;
  std::optional<task::promise<void>> made;

  /// True when all is done.
  bool progress() {
    if (!moves.progress()) return false;
    if (what.at_end) what.at_end();
    return true;
  }
};

/// The error that is being handled, with the name of the call, if it has one: a message of another length than expected
/// comes of ranks that do not make the same call.
static std::exception_ptr error_of(const collective_call& what) {
  try {
    throw;
  } catch (const runtime_failure& error) {
    if (what.name.empty()) return std::current_exception();
    std::string text = error.what();
    const auto place = std::min(text.rfind(" ["), text.size());
    text.insert(place, "; in " + what.in_words() + ", which all ranks have to call alike");
    return std::make_exception_ptr(runtime_failure(text));
  } catch (...) {
    return std::current_exception();
  }
}

operations::operations(std::unique_ptr<wire> over) : wire_(std::move(over)) { start_polling(); }

operations::~operations() {
  roll_call::leave(*this);
  stop_polling();
  std::vector<ended> all;
  for (auto& f : under_way_) {
    const auto what = "rank " + std::to_string(rank()) + ": " + std::string(f->what.name.view());
    const auto why = what + ": its collectives were destroyed";
    all.push_back({std::move(f), std::make_exception_ptr(runtime_failure(why))});
  }
  tell(all);
}

std::unique_ptr<operations::flight> operations::begin(operation_to_do&& what) {
  std::unique_ptr<flight> fresh;
  if (spare_.empty()) {
    fresh = std::make_unique<flight>(std::move(what), *wire_);
  } else {
    fresh = std::move(spare_.back());
    spare_.pop_back();
    fresh->what = std::move(what);
  }
  const auto& todo = *fresh->what.todo;
  if (fresh->scratch.size() < todo.scratch) fresh->scratch.resize(todo.scratch);
  generation_ = generation_ == last_tag ? 0 : generation_ + 1;
  fresh->number = calls_.count();
  calls_.made(fresh->what.call);
  std::byte* const output = fresh->what.output.data();
  const byte_executor::buffers at{fresh->what.input.data(), output ? output : &fresh->token, fresh->scratch.data()};
  fresh->steps.begin(generation_, at, fresh->what.combine);
  fresh->moves.begin(todo, fresh->steps);
  traffic::together(fresh->what.input.empty() ? fresh->what.output.size() : fresh->what.input.size());
  return fresh;
}

void operations::keep(std::unique_ptr<flight> done) {
  constexpr std::size_t most = 8;
  if (spare_.size() == most) return;
  done->what.todo.reset();
  done->what.combine = nullptr;
  done->what.at_end = nullptr;
  spare_.push_back(std::move(done));
}

void operations::run(operation_to_do what) {
  const trace::region whole(what.name);
  constexpr int patient = 200;  // looks, some 20 us; Open MPI gives cores away by itself where ranks share them
  constexpr int giving_way =
      1000;  // after so many others are at work on this core: they get on faster if this one sleeps
  std::unique_ptr<flight> mine;
  for (int look = 0;; ++look) {
    {
      std::lock_guard lock(guard_);
      if (!mine) in_run_ = (mine = begin(std::move(what))).get();
      try {
        if (mine->progress()) {
          in_run_ = nullptr;
          return keep(std::move(mine));
        }
      } catch (...) {
        in_run_ = nullptr;
        const auto what = mine->what.call;
        mine.reset();  // what it has under way is given up with the lock
        std::rethrow_exception(error_of(what));
      }
    }
    task::detail::poll_once();  // the other ranks may wait for something else of this one
    if (look > patient + giving_way)
      std::this_thread::sleep_for(task::detail::pace::shortest_sleep);
    else if (look > patient)
      std::this_thread::yield();
  }
}

task::future<void> operations::start(operation_to_do what) {
  task::promise<void> made;
  auto result = made.get_future();
  std::exception_ptr error;
  bool first = false;
  const collective_call call = what.call;
  {
    std::lock_guard lock(guard_);
    try {
      auto fresh = begin(std::move(what));
      if (fresh->progress()) {
        keep(std::move(fresh));
        made.set_value();
        return result;
      }
      under_way_.push_back(std::move(fresh));
      under_way_.back()->made = std::move(made);
      first = expect(1);
    } catch (...) {
      error = error_of(call);
    }
  }
  if (error) made.set_exception(error);
  if (first) wake_pools();
  return result;
}

void operations::answer_for(std::uint64_t group, std::vector<int> members) {
  {
    std::lock_guard lock(guard_);
    group_ = group;
    members_ = std::move(members);
  }
  roll_call::enter(*this);
}

call_record operations::calls() const {
  std::lock_guard lock(guard_);
  return calls_;
}

std::vector<operations::open_call> operations::open() const {
  std::lock_guard lock(guard_);
  std::vector<open_call> out;
  const auto add = [&](const flight& f) {
    open_call& fresh = out.emplace_back(f.number, f.what.call, std::vector<int>{});
    const auto peers = f.steps.open();
    for (const auto& some : {peers.from, peers.to})
      for (const int peer : some) fresh.awaited.push_back(members_[std::size_t(peer)]);
  };
  for (const auto& f : under_way_) add(*f);
  if (in_run_) add(*in_run_);
  return out;
}

std::string operations::in_words() const {
  std::lock_guard lock(guard_);
  std::string text;
  const auto add = [&](const flight& f) {
    text += (text.empty() ? "" : ", ") + std::string(f.what.name.view()) + " (" + f.steps.open().in_words() + ")";
  };
  for (const auto& f : under_way_) add(*f);
  if (in_run_) add(*in_run_);
  return text;
}

bool operations::poll() noexcept {
  std::vector<ended> all;
  {
    std::unique_lock lock(guard_, std::try_to_lock);
    if (!lock) return false;
    for (std::size_t i = 0; i < under_way_.size();) {
      std::exception_ptr error;
      try {
        if (!under_way_[i]->progress()) {
          ++i;
          continue;
        }
      } catch (...) {
        error = error_of(under_way_[i]->what.call);
      }
      all.push_back({std::move(under_way_[i]), error});
      under_way_.erase(under_way_.begin() + std::ptrdiff_t(i));
    }
  }
  if (all.empty()) return false;
  tell(all);
  return true;
}

void operations::tell(std::vector<ended>& all) noexcept {
  delivered(static_cast<long>(all.size()));
  for (auto& [which, error] : all) {
    auto made = std::move(*which->made);
    which->made.reset();
    {
      std::lock_guard lock(guard_);
      if (error)
        which.reset();
      else
        keep(std::move(which));
    }
    if (error)
      made.set_exception(error);
    else
      made.set_value();
  }
}

}  // namespace plaq::comm
