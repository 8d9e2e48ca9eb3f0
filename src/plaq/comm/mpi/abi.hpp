// The binary interfaces of MPI: what a program compiled with an implementation's mpi.h knows about it. plaq is compiled
// with none; tests/comm/mpi_abi.hpp compares these numbers with each mpi.h.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "plaq/comm/mpi/shared_library.hpp"

namespace plaq::comm {

/// Objects that exist from the start, as handles of an interface.
template <class Handle>
struct predefined {
  Handle world, no_comm, byte, no_type, no_info, no_message, no_request, errors_return;
};

/// Open MPI from 3.0 on, and what is made of it (Spectrum MPI): handles are addresses of its exported objects.
struct open_mpi_abi {
  static constexpr const char* name = "openmpi";
  using handle = void*;
  struct status {
    int source, tag, error, cancelled;
    std::size_t bytes;
  };
  static constexpr int any_source = -1, any_tag = -1, shared_memory = 0, error_in_status = 18;
  static constexpr std::array thread_levels{0, 1, 2, 3};

  static predefined<handle> objects(const shared_library& from) {
    return {.world = from.symbol("ompi_mpi_comm_world"),
            .no_comm = from.symbol("ompi_mpi_comm_null"),
            .byte = from.symbol("ompi_mpi_byte"),
            .no_type = from.symbol("ompi_mpi_datatype_null"),
            .no_info = from.symbol("ompi_mpi_info_null"),
            .no_message = from.symbol("ompi_message_null"),
            .no_request = from.symbol("ompi_request_null"),
            .errors_return = from.symbol("ompi_mpi_errors_return")};
  }
};

/// MPICH from 3.1 on and those that keep its interface: Intel MPI, MVAPICH, Cray MPICH, ParaStation MPI.
struct mpich_abi {
  static constexpr const char* name = "mpich";
  using handle = int;
  struct status {
    int count_low, count_high_and_cancelled, source, tag, error;
  };
  static constexpr int any_source = -2, any_tag = -1, shared_memory = 1, error_in_status = 17;
  static constexpr std::array thread_levels{0, 1, 2, 3};

  static predefined<handle> objects(const shared_library&) {
    return {.world = 0x44000000,
            .no_comm = 0x04000000,
            .byte = 0x4c00010d,
            .no_type = 0x0c000000,
            .no_info = 0x1c000000,
            .no_message = 0x2c000000,
            .no_request = 0x2c000000,
            .errors_return = 0x54000001};
  }
};

/// The interface that the MPI 5.0 standard fixes for all implementations.
struct standard_abi {
  static constexpr const char* name = "abi";
  using handle = void*;
  struct status {
    int source, tag, error;
    std::array<int, 5> internal;
  };
  static constexpr int any_source = -1, any_tag = -2, shared_memory = 221, error_in_status = 19;
  static constexpr std::array thread_levels{0, 1024, 2048, 4096};

  static predefined<handle> objects(const shared_library&) {
    const auto number = [](std::uintptr_t n) { return reinterpret_cast<handle>(n); };
    return {.world = number(0x101),
            .no_comm = number(0x100),
            .byte = number(0x247),
            .no_type = number(0x200),
            .no_info = number(0x130),
            .no_message = number(0x128),
            .no_request = number(0x180),
            .errors_return = number(0x143)};
  }
};

}  // namespace plaq::comm
