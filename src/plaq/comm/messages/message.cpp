#include "plaq/comm/messages/message.hpp"

#include "plaq/base/error.hpp"

namespace plaq::comm {

std::exception_ptr message::failure(int rank, const std::string& why) const {
  const std::string who = peer == any_rank ? "any rank" : "rank " + std::to_string(peer);
  return std::make_exception_ptr(runtime_failure("rank " + std::to_string(rank) + ": " + call +
                                                 (call == send_call ? " to " : " from ") + who + " with tag " +
                                                 std::to_string(tag) + ": " + why));
}

}  // namespace plaq::comm
