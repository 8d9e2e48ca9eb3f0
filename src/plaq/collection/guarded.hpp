// How hosts call each other: what goes wrong on one rank ends the work of all, and letters are counted.
#pragma once
#include <exception>
#include <new>

#include "plaq/collection/host.hpp"

namespace plaq::elements {

template <class Work>
void host::guarded(Work&& work) noexcept {
  if (!sound_) return;
  try {
    work();
  } catch (const std::bad_alloc&) {
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": no memory is left");
  } catch (const std::exception& error) {
    fault(error.what());
  } catch (...) {
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": something was thrown that is no std::exception");
  }
}

template <class V>
void host::post(const V& what, int rank, int tag) {
  ++sent_;
  messages_.send(what, rank, tag);
}

}  // namespace plaq::elements
