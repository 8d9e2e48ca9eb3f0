// The end of a job before its time.
#pragma once

namespace plaq::comm {

/// Ends all processes of the job with this exit code.
[[noreturn]] void abort_job(int code);
/// Whether this process is at it: then nobody waits for anybody any more.
bool is_aborting();

}  // namespace plaq::comm
