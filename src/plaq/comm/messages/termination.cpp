#include "plaq/comm/messages/termination.hpp"

#include <array>
#include <utility>
#include <vector>

#include "plaq/comm/messages/four_counters.hpp"

namespace plaq::comm {

namespace {

/// Decision of rank 0 on a wave.
struct decision {
  bool terminated = false;
  std::string error;
};

using three = std::array<std::uint64_t, 3>;

}  // namespace

template <>
struct packing<counts> {
  static void write(const counts& c, std::vector<std::byte>& to) {
    packing<three>::write({c.sent, c.handled, c.left}, to);
    packing<std::string>::write(c.error, to);
    packing<std::string>::write(c.which, to);
  }
  static counts read(unpacker& from) {
    const auto [sent, handled, left] = packing<three>::read(from);
    std::string error = packing<std::string>::read(from);
    return {sent, handled, left, std::move(error), packing<std::string>::read(from)};
  }
};
template <>
struct packing<decision> {
  static void write(const decision& d, std::vector<std::byte>& to) {
    packing<bool>::write(d.terminated, to);
    packing<std::string>::write(d.error, to);
  }
  static decision read(unpacker& from) {
    const bool terminated = packing<bool>::read(from);
    return {terminated, packing<std::string>::read(from)};
  }
};

void counts::add(const counts& other) {
  sent += other.sent;
  handled += other.handled;
  left += other.left;
  if (error.empty()) error = other.error;
  if (which.empty()) which = other.which;
}

std::string wait_for_termination(messenger& over, int tag, const std::function<counts()>& count) {
  four_counters<counts> state(over.rank(), over.size());
  std::string left_before;
  for (;;) {
    counts own = count();
    for (const int child : state.children()) state.receive(over.irecv_object<counts>(child, tag).get());
    counts all = state.report(std::move(own));
    decision d;
    if (over.rank() > 0) {
      over.isend_object(all, state.parent(), tag).get();
      d = over.irecv_object<decision>(state.parent(), tag).get();
    } else if (const bool quiet = state.decide(all); !all.error.empty() || quiet) {
      d = {true, all.error.empty() ? left_before : all.error};
    }
    for (const int child : state.children()) over.isend_object(d, child, tag).get();
    if (d.terminated) return d.error;
    left_before = std::move(all.which);
    state.begin_wave();
  }
}

}  // namespace plaq::comm
