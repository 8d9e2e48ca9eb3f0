#include "plaq/collection/collection_group.hpp"

#include <string>

#include "plaq/base/error.hpp"
#include "plaq/collection/runtime/wire_format.hpp"

namespace plaq {

elements::own_messages::~own_messages() { by_.messages->remove(by_.first_tag, by_.first_tag + tag::number - 1); }

const int collection_group::most = (comm::active_messages::last_tag + 1) / elements::tag::number;

collection_group::collection_group(const comm::communicator& over, task::detail::pool_base& pool)
    : messages_(std::make_shared<comm::active_messages>(over, pool)), pool_(pool) {}

elements::carrier collection_group::next() const {
  if (made_ == most)
    throw input_error("a group makes " + std::to_string(most) + " collections at most; make another group");
  return {messages_, pool_, elements::tag::number * made_++};
}

}  // namespace plaq
