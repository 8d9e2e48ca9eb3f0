// Abort of a job.
#pragma once

namespace plaq::comm {

/// Ends all processes of the job with this exit code.
[[noreturn]] void abort_job(int code);
/// Returns whether this process aborts the job; then it waits for no other rank.
bool is_aborting();

}  // namespace plaq::comm
