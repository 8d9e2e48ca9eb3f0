#include "plaq/trace/foreign.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "plaq/trace/label.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

namespace plaq::trace::detail {

namespace {

std::mutex guard;
int users = 0;
// Never destroyed: threads may report events until the process has ended.
std::optional<session>& the_session() {
  static auto* const only = new std::optional<session>;
  return *only;
}

}  // namespace

int rank_of_launcher() {
  for (const char* name : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

std::vector<std::string> words_of_list(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    out.emplace_back(word);
  }
  return out;
}

bool begin_foreign_session() noexcept {
  std::lock_guard lock(guard);
  ++users;
  if (the_session()) return true;
  try {
    const char* folder = std::getenv("PLAQ_TRACE");
    const char* counters = std::getenv("PLAQ_TRACE_COUNTERS");
    if (!folder || !*folder) {
      std::fputs("plaq: nothing is recorded: PLAQ_TRACE names no folder\n", stderr);
      return false;
    }
    the_session().emplace(
        session_options{.folder = folder,
                        .rank = rank_of_launcher(),
                        .notes = {{"program", std::filesystem::read_symlink("/proc/self/exe").string()}},
                        .counters = words_of_list(counters ? counters : "")});
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plaq: nothing is recorded: %s\n", error.what());
    return false;
  }
}

void end_foreign_session() noexcept {
  std::lock_guard lock(guard);
  if (--users > 0 || !the_session()) return;
  the_session()->close();
  if (const std::string problem = the_session()->problem(); !problem.empty())
    std::fprintf(stderr, "plaq: the trace ends early: %s\n", problem.c_str());
}

std::string name_of_construct(std::string_view kind, const void* address) {
  Dl_info where{};
  if (!address || ::dladdr(address, &where) == 0 || !where.dli_fname) return std::string(kind);
  if (where.dli_sname) {
    int failed = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(where.dli_sname, nullptr, nullptr, &failed),
                                                       std::free);
    return std::string(kind) + " in " + (plain ? plain.get() : where.dli_sname);
  }
  char offset[32];
  std::snprintf(
      offset, sizeof offset, "+0x%zx",
      static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<const char*>(where.dli_fbase)));
  return std::string(kind) + " at " + std::filesystem::path(where.dli_fname).filename().string() + offset;
}

std::uint64_t begin_foreign_region(std::string_view name) noexcept {
  return recording() ? begin_region(label(name).view()) : 0;
}
void end_foreign_region(std::uint64_t number) noexcept {
  if (number) end_region(number);
}

}  // namespace plaq::trace::detail
