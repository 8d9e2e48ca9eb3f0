#include "plaq/comm/mpi/search.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/interface.hpp"

namespace plaq::comm {

namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;

/// Returns file names of an interface's libraries.
names files_of(const std::string& interface) {
  if (interface == "openmpi") return {"libmpi.so.40"};
  if (interface == "mpich") return {"libmpi.so.12", "libmpich.so.12"};  // Debian's has the second name
  return {"libmpi_abi.so.1", "libmpi_abi.so.0"};
}

/// Returns folders for libraries of a prefix: its own, those of Debian's architectures and of Intel MPI.
std::vector<fs::path> library_folders(const fs::path& prefix) {
  std::vector<fs::path> folders{prefix / "lib", prefix / "lib64", prefix / "lib/release"};
  std::error_code none;
  for (fs::directory_iterator one(prefix / "lib", none), end; one != end; one.increment(none))
    if (one->path().filename().string().find("-linux-gnu") != std::string::npos) folders.push_back(one->path());
  return folders;
}

/// A search, which remembers why libraries that are there could not be loaded.
class search {
 public:
  explicit search(const std::optional<launch>& started) : started_(started) {}

  /// Returns the first library of these interfaces in a folder with bin/ and lib/.
  shared_library in(const fs::path& prefix, const names& interfaces) {
    const auto folders = library_folders(prefix);
    for (const auto& interface : interfaces)
      for (const auto& folder : folders)
        for (const auto& file : files_of(interface))
          if (std::error_code none; fs::exists(folder / file, none))
            if (auto found = suitable((folder / file).string())) return found;
    return {};
  }

  /// Returns the first that the loader finds by its name.
  shared_library by_loader(const names& interfaces) {
    for (const auto& interface : interfaces)
      for (const auto& file : files_of(interface))
        if (auto found = suitable(file)) return found;
    return {};
  }

  shared_library anywhere(const mpi_places& places, const names& interfaces) {
    if (places.of_launcher)
      if (auto found = in(*places.of_launcher, interfaces)) return found;
    for (const auto& prefix : places.prefixes)
      if (auto found = in(prefix, interfaces)) return found;
    return by_loader(interfaces);
  }

  /// Returns why there was none.
  std::string why(const names& interfaces) const {
    std::string files;
    for (const auto& interface : interfaces)
      for (const auto& file : files_of(interface)) files += (files.empty() ? "" : ", ") + file;
    return "none of " + files + " can be loaded" + (trouble_.empty() ? "" : ": " + trouble_);
  }

 private:
  shared_library suitable(const std::string& name) {
    auto library = shared_library::load(name);
    if (!library) {
      if (!library.error().starts_with(name + ": cannot open shared object file: No such file")) note(library.error());
      return {};
    }
    if (name_of_interface(library).empty()) return note(library.path() + " is another kind of MPI"), shared_library();
    const bool open_mpi = started_ && started_->ranks_of == launch::kind::open_mpi;
    if (open_mpi && name_of_interface(library) == "abi" && !version_of(library).starts_with("Open MPI")) return {};
    return library;
  }
  void note(const std::string& what) {
    if (trouble_.empty()) trouble_ = what;
  }

  const std::optional<launch>& started_;
  std::string trouble_;
};

/// Returns groups of interfaces: any of an earlier one is preferred to all of later ones.
std::vector<names> interfaces_for(const std::optional<launch>& started) {
  switch (started ? started->ranks_of : launch::kind::any) {
    case launch::kind::open_mpi: return {{"openmpi", "abi"}};
    case launch::kind::mpich: return {{"mpich", "abi"}};
    case launch::kind::pmi: return {{"mpich", "abi"}, {"openmpi"}};
    case launch::kind::pmix: return {{"openmpi", "abi"}, {"mpich"}};
    case launch::kind::any: break;
  }
  return {{"openmpi", "mpich", "abi"}};
}

mpi_choice named(const std::string& name, const std::function<mpi_places()>& places) {
  if (name == "none") return {{}, "PLAQ_MPI is none"};
  if (name.find('/') != std::string::npos) {
    auto library = shared_library::load(name);
    if (!library) throw input_error("PLAQ_MPI is " + name + ", which cannot be loaded: " + library.error());
    return {library, ""};
  }
  if (name != "openmpi" && name != "mpich" && name != "abi")
    throw input_error("PLAQ_MPI is '" + name + "'; it may be openmpi, mpich, abi, none, or the path of a library");
  const std::optional<launch> any;
  search wanted(any);
  auto library = wanted.anywhere(places(), {name});
  if (!library) throw input_error("PLAQ_MPI is " + name + ", but " + wanted.why({name}));
  return {library, ""};
}

/// Returns the folder that contains bin/ with this program; nothing for other places.
std::optional<fs::path> prefix_of_program(const fs::path& program) {
  const fs::path folder = program.parent_path();
  if (folder.filename() != "bin") return std::nullopt;
  return folder.parent_path();
}

/// Returns the file of a launcher's process, if it is one.
std::optional<fs::path> launcher_process(long id) {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/" + std::to_string(id) + "/exe", none);
  const std::string name = program.filename().string();
  constexpr std::array starts{"mpiexec", "mpirun", "orte", "prte", "hydra_"};
  const bool is_one = std::ranges::any_of(starts, [&](const char* start) { return name.starts_with(start); });
  return is_one ? std::optional(program) : std::nullopt;
}

long parent_of(long id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');  // of the program's name, which may have blanks
  if (end == std::string::npos) return 0;
  std::istringstream rest(line.substr(end + 1));
  char state = 0;
  long parent = 0;
  rest >> state >> parent;
  return parent;
}

/// Returns the program of that name in the folders of PATH.
std::optional<fs::path> on_path(const char* name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && ::access((folder + "/" + name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  return std::nullopt;
}

}  // namespace

mpi_places find_places() {
  mpi_places places;
  for (long id = ::getppid(); id > 1 && !places.of_launcher; id = parent_of(id))
    if (const auto program = launcher_process(id)) places.of_launcher = prefix_of_program(*program);
  Dl_info info{};
  std::error_code none;
  if (::dladdr(reinterpret_cast<void*>(&find_places), &info) && info.dli_fname) {
    const fs::path file = fs::absolute(info.dli_fname, none);
    for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
      places.prefixes.push_back(folder);
  }
  for (const char* name : {"mpiexec", "mpirun"})
    if (const auto program = on_path(name)) {
      for (const auto& file : {*program, fs::canonical(*program, none)})  // a link may lead to another folder
        if (const auto prefix = prefix_of_program(file)) places.prefixes.push_back(*prefix);
      break;
    }
  return places;
}

mpi_choice choose_mpi(const environment& lookup, const std::optional<launch>& started,
                      const std::function<mpi_places()>& places) {
  const char* name = lookup("PLAQ_MPI");
  if (name && *name) return named(name, places);
  for (const auto& library : mpi_in_process()) return {library, ""};
  search wanted(started);
  const mpi_places where = places();
  names all;
  for (const auto& group : interfaces_for(started)) {
    if (auto library = wanted.anywhere(where, group)) return {library, ""};
    all.insert(all.end(), group.begin(), group.end());
  }
  return {{}, wanted.why(all)};
}

std::vector<shared_library> mpi_in_process() {
  std::vector<shared_library> found;
  for (const auto& path : shared_library::paths()) {
    if (!fs::path(path).filename().string().starts_with("libmpi")) continue;
    const auto library = shared_library::loaded(path).owner("MPI_Get_library_version");
    const auto same = [&](const shared_library& other) { return other.path() == library.path(); };
    if (!library || std::ranges::any_of(found, same) || name_of_interface(library).empty()) continue;
    found.push_back(library);
  }
  std::ranges::stable_partition(found, is_running);
  return found;
}

bool is_running(const shared_library& mpi) {
  const auto ask = [&](const char* name) {
    const auto call = reinterpret_cast<int (*)(int*)>(mpi.symbol(name));
    int yes = 0;
    return call && call(&yes) == 0 && yes;
  };
  return ask("MPI_Initialized") && !ask("MPI_Finalized");
}

std::string version_of(const shared_library& mpi) {
  const auto call = reinterpret_cast<int (*)(char*, int*)>(mpi.symbol("MPI_Get_library_version"));
  std::string version(8192, '\0');  // of all interfaces the longest
  int length = 0;
  if (!call || call(version.data(), &length) != 0) return "an MPI without a name";
  version.resize(std::min(version.find_first_of(std::string_view(",\n\0", 3)), version.size()));
  std::ranges::replace(version, '\t', ' ');
  const auto blanks = [](char x, char y) { return x == ' ' && y == ' '; };
  version.erase(std::unique(version.begin(), version.end(), blanks), version.end());
  return version;
}

std::string launcher_of(const shared_library& mpi) {
  const bool open_mpi = name_of_interface(mpi) == "openmpi" || version_of(mpi).starts_with("Open MPI");
  // Systems with several have names of their own for each.
  const names programs = open_mpi ? names{"mpiexec.openmpi", "orterun", "mpiexec", "mpirun"}
                                  : names{"mpiexec.mpich", "mpiexec.hydra", "mpiexec"};
  for (fs::path folder = fs::path(mpi.path()).parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    for (const auto& program : programs)
      if (const fs::path file = folder / "bin" / program; ::access(file.c_str(), X_OK) == 0) return file.string();
  return "";
}

}  // namespace plaq::comm
