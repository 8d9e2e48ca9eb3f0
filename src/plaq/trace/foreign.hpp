// Recording of programs that know nothing of plaq, by the tools interfaces of OpenMP and Kokkos.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plaq::trace::detail {

/// Begins the session that the environment asks for, once; later calls count. PLAQ_TRACE names the folder,
/// PLAQ_TRACE_COUNTERS the counters of the processor. The rank is that of the launcher. What is wrong is a line on
/// stderr; the program continues without a recording. Returns whether a session records.
bool begin_foreign_session() noexcept;
/// Ends it, at the last of as many calls.
void end_foreign_session() noexcept;

/// Returns the rank in PMIX_RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID; 0 without one.
int rank_of_launcher();
/// Returns the words of a list with commas.
std::vector<std::string> words_of_list(std::string_view list);

/// Returns `kind` and the function or else the offset in its file of this address: "loop in heat", "loop at
/// heat+0x12a4".
std::string name_of_construct(std::string_view kind, const void* address);

/// Begins a region of the calling thread; returns its number for end_region, 0 if none is recorded.
std::uint64_t begin_foreign_region(std::string_view name) noexcept;
void end_foreign_region(std::uint64_t number) noexcept;

}  // namespace plaq::trace::detail
