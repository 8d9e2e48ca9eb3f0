// How much memory is left.
#pragma once
#include <filesystem>

namespace plaq {

/// In bytes. Zeros where the kernel does not say.
struct memory {
  double available = 0;  ///< can be had without swapping; what caches of files take is among it
  double total = 0;

  double share_left() const noexcept { return total > 0 ? available / total : 1; }
};

/// Of the machine or of that control group of this process, whichever has the smaller share left: what a container
/// or a batch system allows it, together with its other processes. `root` is "/" but for tests.
memory memory_left(const std::filesystem::path& root = "/");

}  // namespace plaq
