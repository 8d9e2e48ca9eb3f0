// MPI of this process, whatever its binary interface.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "plaq/comm/mpi/shared_library.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Thread levels of MPI, in its order.
enum class thread_level_of_mpi { single, funneled, serialized, multiple };

/// Calls of MPI that make no messages. Failures are runtime_failures.
class mpi_interface {
 public:
  virtual ~mpi_interface() = default;

  virtual bool initialised() const = 0;
  virtual bool finalised() const = 0;
  bool running() const { return initialised() && !finalised(); }

  /// Begins MPI and asks for thread_level_of_mpi::multiple.
  virtual void initialise() = 0;
  virtual void finalise() noexcept = 0;
  virtual void abort(int code) = 0;
  virtual thread_level_of_mpi level() const = 0;

  virtual wire::handle world() const = 0;
  /// Returns the size of the world. Errors of its calls come back as codes from now on; the default is to end the job
  /// without saying which call failed.
  virtual int size_of_world() = 0;
  /// Joins the ranks of this node, so that each wakes those to which it sends. Collective; before other threads call.
  virtual void join_node() = 0;
  /// Throws input_error unless this is a communicator of one group.
  virtual void check_group(wire::handle comm) const = 0;
  /// Makes a wire over a duplicate of a communicator. Collective. Buffers longer than `longest_message` bytes travel in
  /// pieces. @pre MPI can count `longest_message` bytes (input_error).
  virtual std::unique_ptr<wire> make_wire(wire::handle over, std::size_t longest_message) const = 0;
};

/// Returns the name of the binary interface of a library: "openmpi", "mpich" or "abi"; empty if plaq knows none such.
std::string name_of_interface(const shared_library& library);

/// Takes the functions of a library, in place of those taken before. Throws input_error if plaq does not know its
/// interface or it lacks a function.
std::unique_ptr<mpi_interface> take_mpi(const shared_library& library);

}  // namespace plaq::comm
