// MPI in this process: which it is, when it begins and ends.
#include <array>
#include <mutex>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/interface.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/comm/mpi/own_yields.hpp"
#include "plaq/comm/mpi/search.hpp"

namespace plaq::comm {

namespace {

/// Returns the MPI that runs in the process, if there is one.
shared_library running_in_process() {
  for (const auto& library : mpi_in_process()) return is_running(library) ? library : shared_library();
  return {};
}

std::string in_words(const shared_library& mpi) {
  const std::string path = mpi.path();
  return version_of(mpi) + " (" + mpi.soname() + " of " + path.substr(0, path.rfind('/')) + ")";
}

/// The MPI that plaq uses. Unless PLAQ_MPI names it, it may still change until there are wires: another library of the
/// program may begin one.
class chosen_mpi {
 public:
  static chosen_mpi& instance() {
    static chosen_mpi c;
    return c;
  }

  /// Returns the MPI, or null: one that runs in the process, else the one chosen.
  mpi_interface* get() {
    const std::lock_guard lock(guard_);
    if (in_use_) return mpi_.get();
    const char* named = own_environment("PLAQ_MPI");
    if (auto running = running_in_process(); running && !(named && *named)) {
      take(std::move(running));
    } else if (!is_chosen_) {
      auto [library, why] = choose_mpi(own_environment, find_launch(), find_places);
      why_none_ = std::move(why);
      if (library) take(std::move(library));
      is_chosen_ = true;
    }
    return mpi_.get();
  }
  /// Returns the MPI that runs in the process, or null; chooses none.
  mpi_interface* running() {
    {
      const std::lock_guard lock(guard_);
      if (!in_use_ && !running_in_process()) return nullptr;
    }
    mpi_interface* mpi = get();
    return mpi && mpi->running() ? mpi : nullptr;
  }
  /// Keeps this one: wires are made of it.
  void keep() {
    const std::lock_guard lock(guard_);
    in_use_ = true;
  }

  const shared_library& library() const { return library_; }
  const std::string& why_none() const { return why_none_; }

  /// Whether plaq began MPI.
  bool is_ours = false;

 private:
  void take(shared_library library) {
    if (mpi_ && library.path() == library_.path()) return;
    mpi_ = take_mpi(library);
    library_ = std::move(library);
  }

  std::mutex guard_;
  std::unique_ptr<mpi_interface> mpi_;
  shared_library library_;
  std::string why_none_;
  bool is_chosen_ = false, in_use_ = false;
};

constexpr std::array level_names{"single", "funneled", "serialized", "multiple"};
const char* name_of(thread_level_of_mpi level) { return level_names[std::size_t(level)]; }

void need_thread_level(const mpi_interface& mpi) {
  if (mpi.level() < thread_level_of_mpi::serialized)
    throw runtime_failure(std::string("MPI offers the thread level '") + name_of(mpi.level()) +
                          "'; plaq calls it from several threads, one at a time, and needs 'serialized'");
}

/// MPI's world: initialised at most once, finalised at exit if plaq initialised it.
class session {
 public:
  /// @pre `mpi` is the one of this process.
  static void begin(mpi_interface& mpi) { static session s(mpi); }

  session(const session&) = delete;
  session& operator=(const session&) = delete;

  ~session() {
    if (chosen_mpi::instance().is_ours && !mpi_.finalised()) mpi_.finalise();
  }

 private:
  explicit session(mpi_interface& mpi) : mpi_(mpi) {
    auto& chosen = chosen_mpi::instance();
    const auto started = find_launch();
    if (!mpi.initialised()) {
      if (const auto other = running_in_process())
        throw input_error("PLAQ_MPI names " + in_words(chosen.library()) + ", but this process runs " +
                          in_words(other));
      check_launcher(in_words(chosen.library()), started);
      // Components of Open MPI expect to find it among the symbols of the process.
      if (name_of_interface(chosen.library()) == "openmpi") chosen.library().make_global();
      mpi.initialise();
      chosen.is_ours = true;
    }
    chosen.keep();
    need_thread_level(mpi);
    check_world(mpi.size_of_world(), in_words(chosen.library()), "", started, expected_ranks());
    if (mpi.size_of_world() > 1) mpi.join_node();
    find_own_yields(chosen.library());
  }

  mpi_interface& mpi_;
};

}  // namespace

std::unique_ptr<wire> mpi_world(std::size_t longest_message) {
  mpi_interface* mpi = chosen_mpi::instance().get();
  if (!mpi) return nullptr;
  session::begin(*mpi);
  return mpi->make_wire(mpi->world(), longest_message);
}

std::unique_ptr<wire> wire_of_program(wire::handle over, const std::string& interface, std::size_t longest_message) {
  auto& chosen = chosen_mpi::instance();
  mpi_interface* mpi = chosen.running();
  if (!mpi) throw input_error("from_mpi: MPI is not running; comm::world() or MPI_Init_thread starts it");
  if (name_of_interface(chosen.library()) != interface)
    throw input_error("from_mpi: the program was compiled for another MPI (" + interface +
                      ") than the one that runs, " + in_words(chosen.library()));
  mpi->check_group(over);
  need_thread_level(*mpi);
  chosen.keep();
  find_own_yields(chosen.library());
  return mpi->make_wire(over, longest_message);
}

void mpi_abort(int code) {
  if (mpi_interface* mpi = chosen_mpi::instance().running()) mpi->abort(code);
}

bool mpi_is_running() { return chosen_mpi::instance().running() != nullptr; }

bool mpi_is_ours() { return mpi_is_running() && chosen_mpi::instance().is_ours; }

mpi_description describe_mpi() {
  auto& chosen = chosen_mpi::instance();
  if (!chosen.get()) return {.why_none = chosen.why_none()};
  const shared_library& library = chosen.library();
  return {version_of(library), library.path(), in_words(library), launcher_of(library), ""};
}

std::string library_version() {
  auto& chosen = chosen_mpi::instance();
  return chosen.get() ? version_of(chosen.library()) : "";
}

std::string thread_level() {
  const mpi_interface* mpi = chosen_mpi::instance().running();
  return mpi ? name_of(mpi->level()) : "";
}

bool takes_device_memory() {
  const shared_library& library = chosen_mpi::instance().library();
  // Open MPI and others of its kind; MPICH, where 0 stands for CUDA.
  if (const auto query = reinterpret_cast<int (*)()>(library.symbol("MPIX_Query_cuda_support"))) return query() == 1;
  int takes = 0;
  const auto query = reinterpret_cast<int (*)(int, int*)>(library.symbol("MPIX_GPU_query_support"));
  return query && query(0, &takes) == 0 && takes != 0;
}

}  // namespace plaq::comm
