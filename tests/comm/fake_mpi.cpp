// What the search for MPI looks at, in place of a library of MPI: FAKE_NAME is its version; FAKE_OPEN_MPI and
// FAKE_ABI_VERSION give it the signs of an interface.
#include <cstring>

extern "C" {
int MPI_Init_thread(int*, char***, int, int*) { return 0; }
int MPI_Initialized(int* yes) { return *yes = 0; }
int MPI_Finalized(int* yes) { return *yes = 0; }
int MPI_Get_library_version(char* text, int* length) {
  std::strcpy(text, FAKE_NAME ",\tbuilt for tests");
  *length = int(std::strlen(text));
  return 0;
}
#if defined(FAKE_OPEN_MPI)
int ompi_mpi_comm_world = 0;
#elif defined(FAKE_ABI_VERSION)
int MPI_Abi_get_version(int* version, int* subversion) {
  *version = FAKE_ABI_VERSION;
  *subversion = 0;
  return 0;
}
#endif
}
