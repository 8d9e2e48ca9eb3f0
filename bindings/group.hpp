// A communicator as Python holds it.
#pragma once
#include <utility>

#include "plaq/comm/messages/messenger.hpp"
#include "plaq/comm/wire/communicator.hpp"

/// It also sends messages.
struct group {
  explicit group(plaq::comm::communicator over) : ranks(std::move(over)), messages(ranks) {}
  plaq::comm::communicator ranks;
  plaq::comm::messenger messages;
};
