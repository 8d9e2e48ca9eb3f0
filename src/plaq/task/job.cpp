#include "plaq/task/job.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::task::detail {

attributes job::attributes_in(const scheduler& home, attributes how) {
  if (how.domain >= home.domains())
    throw input_error("a task is bound to domain " + std::to_string(how.domain) + " of a pool with domains 0 ... " +
                      std::to_string(home.domains() - 1));
  if (home.domains() == 1) how.domain = attributes::any;
  return how;
}

void job::pause() noexcept {
  paused_ = true;
  context = nullptr;
  trace::suspended(id);
  home.announce();
}

scheduler::scheduler(std::vector<int> of_worker)
    : of_worker_(std::move(of_worker)),
      domains_(of_worker_.empty() ? 1 : 1 + *std::max_element(of_worker_.begin(), of_worker_.end())) {}

}  // namespace plaq::task::detail
