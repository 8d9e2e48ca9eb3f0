// plaq's own description of the interface of this MPI, compared with its mpi.h, and its handles with those that plaq
// finds in the library.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "plaq/comm/mpi/abi.hpp"
#include "plaq/comm/mpi/functions.hpp"
#include "plaq/comm/mpi/interface.hpp"
#include "plaq/comm/mpi/search.hpp"

namespace {

using namespace plaq::comm;

#if defined(OPEN_MPI)
using abi = open_mpi_abi;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
using abi = mpich_abi;
#else
using abi = standard_abi;
#endif

using status = abi::status;
static_assert(sizeof(status) == sizeof(MPI_Status) && alignof(status) == alignof(MPI_Status));
static_assert(offsetof(status, source) == offsetof(MPI_Status, MPI_SOURCE));
static_assert(offsetof(status, tag) == offsetof(MPI_Status, MPI_TAG));
static_assert(offsetof(status, error) == offsetof(MPI_Status, MPI_ERROR));

template <class Theirs>
constexpr bool is_handle =
    sizeof(Theirs) == sizeof(abi::handle) && std::is_pointer_v<Theirs> == std::is_pointer_v<abi::handle>;
static_assert(is_handle<MPI_Comm> && is_handle<MPI_Datatype> && is_handle<MPI_Request> && is_handle<MPI_Message> &&
              is_handle<MPI_Info> && is_handle<MPI_Group> && is_handle<MPI_Errhandler>);
static_assert(sizeof(MPI_Aint) == sizeof(mpi_functions<abi>::address) && std::is_signed_v<MPI_Aint>);
static_assert(sizeof(MPI_Count) == sizeof(mpi_functions<abi>::count) && std::is_signed_v<MPI_Count>);

static_assert(MPI_SUCCESS == 0 && MPI_ERR_IN_STATUS == abi::error_in_status);
static_assert(MPI_ANY_SOURCE == abi::any_source && MPI_ANY_TAG == abi::any_tag);
static_assert(MPI_COMM_TYPE_SHARED == abi::shared_memory);
static_assert(MPI_THREAD_SINGLE == abi::thread_levels[0] && MPI_THREAD_FUNNELED == abi::thread_levels[1] &&
              MPI_THREAD_SERIALIZED == abi::thread_levels[2] && MPI_THREAD_MULTIPLE == abi::thread_levels[3]);
static_assert(MPI_MAX_ERROR_STRING <= 1024 && MPI_MAX_LIBRARY_VERSION_STRING <= 8192);

int differences = 0;

template <class Theirs>
void compare(const char* name, abi::handle ours, Theirs theirs) {
  if ((abi::handle)(theirs) == ours) return;
  std::printf("%s differs from mpi.h\n", name);
  ++differences;
}

/// Every function takes what plaq passes: types alike but for handles and statuses, which are compared above.
template <class Ours, class Theirs>
struct alike : std::false_type {};
template <class... Ours, class... Theirs>
struct alike<int (*)(Ours...), int (*)(Theirs...)>
    : std::bool_constant<sizeof...(Ours) == sizeof...(Theirs) && ((sizeof(Ours) == sizeof(Theirs)) && ...)> {};
#define ALIKE(name, parameters) \
  static_assert(alike<decltype(mpi_functions<abi>::name), decltype(&MPI_##name)>::value, #name);
PLAQ_FUNCTIONS_OF_MPI(ALIKE)

}  // namespace

int main() {
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);  // so that the library is in the process
  const auto all = mpi_in_process();
  if (all.size() != 1) return std::printf("%zu libraries of MPI in this process\n", all.size()), 1;
  if (name_of_interface(all[0]) != abi::name) return std::printf("plaq takes it for another interface\n"), 1;
  take<abi>(all[0]);
  const auto& is = mpi_of<abi>.is;
  compare("MPI_COMM_WORLD", is.world, MPI_COMM_WORLD);
  compare("MPI_COMM_NULL", is.no_comm, MPI_COMM_NULL);
  compare("MPI_BYTE", is.byte, MPI_BYTE);
  compare("MPI_DATATYPE_NULL", is.no_type, MPI_DATATYPE_NULL);
  compare("MPI_INFO_NULL", is.no_info, MPI_INFO_NULL);
  compare("MPI_MESSAGE_NULL", is.no_message, MPI_MESSAGE_NULL);
  compare("MPI_REQUEST_NULL", is.no_request, MPI_REQUEST_NULL);
  compare("MPI_ERRORS_RETURN", is.errors_return, MPI_ERRORS_RETURN);
  std::printf("%s: %d differences\n", version_of(all[0]).c_str(), differences);
  return differences;
}
