// Exception of an operation whose std::stop_token was stopped.
#pragma once
#include <exception>

namespace plaq::task {

/// Exception of an operation that ended early, since its stop token was stopped.
class cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace plaq::task
