// What from_mpi.hpp asks of the library, which knows no mpi.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Returns `from_mpi` of a handle of the program's MPI, whose binary `interface` is openmpi, mpich or abi.
communicator group_of_program(std::uintptr_t over, const char* interface, std::size_t longest_message);

}  // namespace plaq::comm
