#include "plaq/comm/mpi/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace plaq::comm {

namespace {

const link_map* map_of(void* handle) {
  link_map* map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

}  // namespace

shared_library::shared_library(const std::string& name, int flags) : handle_(::dlopen(name.c_str(), flags)) {
  if (!handle_) {
    const char* why = ::dlerror();
    error_ = why ? why : "it is not in the process";
    return;
  }
  void* first = ::dlsym(RTLD_DEFAULT, "PMPI_Init_thread");
  global_ = first && first == ::dlsym(handle_, "PMPI_Init_thread");
}

shared_library shared_library::load(const std::string& name) { return {name, RTLD_NOW | RTLD_LOCAL}; }

shared_library shared_library::loaded(const std::string& name) { return {name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD}; }

std::vector<std::string> shared_library::paths() {
  std::vector<std::string> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* all) {
        if (one->dlpi_name && *one->dlpi_name) static_cast<std::vector<std::string>*>(all)->push_back(one->dlpi_name);
        return 0;
      },
      &found);
  return found;
}

void* shared_library::symbol(const char* name) const {
  void* const first = global_ ? ::dlsym(RTLD_DEFAULT, name) : nullptr;
  return first ? first : ::dlsym(handle_, name);
}

shared_library shared_library::owner(const char* symbol) const {
  Dl_info info{};
  void* const address = handle_ ? ::dlsym(handle_, symbol) : nullptr;
  return address && ::dladdr(address, &info) && info.dli_fname ? loaded(info.dli_fname) : shared_library();
}

void shared_library::make_global() const { ::dlopen(map_of(handle_)->l_name, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD); }

std::string shared_library::path() const {
  std::error_code none;
  const std::filesystem::path name = map_of(handle_)->l_name, real = std::filesystem::canonical(name, none);
  return none ? name.string() : real.string();
}

std::string shared_library::soname() const {
  const link_map* map = map_of(handle_);
  std::uintptr_t names = 0, at = 0;
  bool named = false;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) at = entry->d_un.d_val, named = true;
  }
  if (names < map->l_addr) names += map->l_addr;  // some systems leave it as it is in the file
  return named ? reinterpret_cast<const char*>(names + at) : std::filesystem::path(map->l_name).filename().string();
}

}  // namespace plaq::comm
