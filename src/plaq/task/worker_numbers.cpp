#include "plaq/task/worker_numbers.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace plaq::task::detail {

namespace {

std::mutex list_lock;
std::vector<const worker_numbers*>& list() {                   // by first()
  static auto& all = *new std::vector<const worker_numbers*>;  // outlives every pool
  return all;
}

}  // namespace

worker_numbers::worker_numbers(int workers) : workers_(workers) {
  std::lock_guard lock(list_lock);
  const auto next = std::find_if(list().begin(), list().end(), [&](const worker_numbers* taken) {
    if (first_ + workers_ <= taken->first_) return true;
    first_ = taken->first_ + taken->workers_;
    return false;
  });
  list().insert(next, this);
}

worker_numbers::~worker_numbers() {
  std::lock_guard lock(list_lock);
  std::erase(list(), this);
}

}  // namespace plaq::task::detail
