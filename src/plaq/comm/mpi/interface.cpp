#include "plaq/comm/mpi/interface.hpp"

#include <algorithm>
#include <random>

#include "plaq/comm/mpi/mpi_wire.hpp"

namespace plaq::comm {

std::uint32_t fresh_number() {
  static std::random_device source;
  return source();
}

namespace {

template <class Abi>
class interface final : public mpi_interface {
  static constexpr const auto& mpi = mpi_of<Abi>;
  using handle = typename Abi::handle;

 public:
  bool initialised() const override { return flag(mpi.Initialized, "MPI_Initialized"); }
  bool finalised() const override { return flag(mpi.Finalized, "MPI_Finalized"); }

  void initialise() override {
    int level = 0;
    must<Abi>(mpi.Init_thread(nullptr, nullptr, Abi::thread_levels[3], &level), "MPI_Init_thread");
  }
  void finalise() noexcept override { mpi.Finalize(); }  // what fails at the end of a process is ignored
  void abort(int code) override { must<Abi>(mpi.Abort(mpi.is.world, code), "MPI_Abort"); }

  thread_level_of_mpi level() const override {
    int level = 0;
    must<Abi>(mpi.Query_thread(&level), "MPI_Query_thread");
    const auto above = std::ranges::upper_bound(Abi::thread_levels, level);
    return thread_level_of_mpi(std::max<std::ptrdiff_t>(above - Abi::thread_levels.begin() - 1, 0));
  }

  wire::handle world() const override { return to_handle(mpi.is.world); }
  int size_of_world() override {
    int size = 0;
    must<Abi>(mpi.Comm_set_errhandler(mpi.is.world, mpi.is.errors_return), "MPI_Comm_set_errhandler");
    must<Abi>(mpi.Comm_size(mpi.is.world, &size), "MPI_Comm_size");
    return size;
  }

  void join_node() override {
    auto& near = neighbours<Abi>::of_process;
    if (near.count > 0) return;
    mpi_wire<Abi> node(mpi_wire<Abi>::node_of(mpi.is.world), 1);
    if (node.size() == 1) return;
    near.places = attach_to_node(node.number(), node.rank(), node.size());
    near.group = node.group();
    near.count = node.size();
  }

  void check_group(wire::handle comm) const override {
    const auto of = from_handle<handle>(comm);
    if (of == mpi.is.no_comm) throw input_error("from_mpi: the communicator is MPI_COMM_NULL, which has no ranks");
    if (flag([&](int* yes) { return mpi.Comm_test_inter(of, yes); }, "MPI_Comm_test_inter"))
      throw input_error("from_mpi: an intercommunicator joins two groups; MPI_Intercomm_merge makes one");
  }

  std::unique_ptr<wire> make_wire(wire::handle over, std::size_t longest_message) const override {
    return mpi_wire<Abi>::duplicate_of(from_handle<handle>(over), longest_message);
  }

 private:
  template <class Call>
  static bool flag(Call call, const char* name) {
    int yes = 0;
    must<Abi>(call(&yes), name);
    return yes != 0;
  }
};

template <class Abi>
std::unique_ptr<mpi_interface> taken(const shared_library& library) {
  take<Abi>(library);
  return std::make_unique<interface<Abi>>();
}

/// Returns whether the library keeps the standard's interface, not one that a draft of it had.
bool keeps_standard(const shared_library& library) {
  int version = 0, subversion = 0;
  const auto ask = reinterpret_cast<int (*)(int*, int*)>(library.symbol("MPI_Abi_get_version"));
  return ask && ask(&version, &subversion) == 0 && version == 1;
}

}  // namespace

std::string name_of_interface(const shared_library& library) {
  if (!library.symbol("MPI_Init_thread")) return "";
  if (library.symbol("ompi_mpi_comm_world")) return open_mpi_abi::name;
  const std::string soname = library.soname();
  if (soname.starts_with("libmpi_abi.so.")) return keeps_standard(library) ? standard_abi::name : "";
  return soname.ends_with(".so.12") ? mpich_abi::name : "";  // the number that its implementations agreed upon
}

std::unique_ptr<mpi_interface> take_mpi(const shared_library& library) {
  const std::string name = name_of_interface(library);
  if (name == open_mpi_abi::name) return taken<open_mpi_abi>(library);
  if (name == mpich_abi::name) return taken<mpich_abi>(library);
  if (name == standard_abi::name) return taken<standard_abi>(library);
  throw input_error(
      library.path() + " (" + library.soname() +
      ") is no MPI that plaq can load: Open MPI 3 or later, MPICH 3.1 or later and its kin, or an MPI with "
      "the interface of the MPI 5 standard");
}

}  // namespace plaq::comm
