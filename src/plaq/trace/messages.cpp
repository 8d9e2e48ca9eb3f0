#include "plaq/trace/messages.hpp"

#include "plaq/trace/recorder.hpp"

namespace plaq::trace::detail {

void message_sent(const message_id& id, std::size_t bytes) noexcept { recorder::message(event::sent, id, bytes); }
void message_received(const message_id& id, std::size_t bytes) noexcept {
  recorder::message(event::received, id, bytes);
}

}  // namespace plaq::trace::detail
