// Exception of an operation whose std::stop_token was stopped.
#pragma once
#include <exception>

namespace plaq::task {

class cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace plaq::task
