// What this process sends and receives, counted for whoever samples it.
#pragma once
#include <cstddef>

namespace plaq::comm::traffic {

/// Between two ranks.
void sent(std::size_t bytes) noexcept;
void received(std::size_t bytes) noexcept;
/// A call that all ranks make together, by the bytes that this rank hands over, or has changed in place; the messages
/// that it is made of count as such too.
void together(std::size_t bytes) noexcept;

}  // namespace plaq::comm::traffic
