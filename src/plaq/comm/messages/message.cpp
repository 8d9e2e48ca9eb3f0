#include "plaq/comm/messages/message.hpp"

#include "plaq/base/error.hpp"

namespace plaq::comm {

std::exception_ptr message::failure(int rank, const std::string& why) const {
  const std::string other = peer == any_rank ? "any rank" : "rank " + std::to_string(peer);
  const std::string what = (call == message_end::send ? "send to " : "receive from ") + other;
  return std::make_exception_ptr(
      runtime_failure("rank " + std::to_string(rank) + ": " + what + " with tag " + std::to_string(tag) + ": " + why));
}

}  // namespace plaq::comm
