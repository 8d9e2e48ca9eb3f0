#include "plaq/comm/wire/communicator.hpp"

#include <string>

#include "plaq/base/error.hpp"

namespace plaq::comm {

communicator communicator::split(int color, int key) const {
  if (color < 0) throw input_error("split: the color must not be negative, it is " + std::to_string(color));
  return communicator(wire_->split(color, key));
}

}  // namespace plaq::comm
