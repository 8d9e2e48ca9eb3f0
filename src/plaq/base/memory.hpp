// Memory that is left.
#pragma once
#include <filesystem>

namespace plaq {

/// Bytes; zeros if the kernel does not report them.
struct memory {
  double available = 0;  ///< available without swapping, including the caches of files
  double total = 0;

  double share_left() const noexcept { return total > 0 ? available / total : 1; }
};

/// Memory of the machine, or of the control group of this process with the smaller share left. A control group is the
/// limit of a container or a batch system for this process and others. `root` is "/" except in tests.
memory memory_left(const std::filesystem::path& root = "/");

}  // namespace plaq
