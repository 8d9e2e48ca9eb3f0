// Where chains walk together: a GPU, or the host in its place.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plaq/dca/device/chain.hpp"
#include "plaq/dca/device/measurement_tables.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::dca::device {

/// Tasks bring their chains here and wait; a thread of its own launches a kernel for all that have come, and then for
/// those that came meanwhile. What a chain does depends on itself alone, so nothing else does on who comes when.
class walk_place {
 public:
  /// Throws an input_error for moves that no kernel makes.
  walk_place(const problem& p, gpu::device where);
  ~walk_place();
  walk_place(const walk_place&) = delete;

  const expansion& parameters() const { return problem_.model.parameters; }
  const walk_rules& rules() const { return rules_; }
  gpu::device where() const { return where_; }
  const measurement_tables& measured() const { return measured_; }

  /// The bath of a chain, whose numbers stay here.
  bath_view bath(std::uint32_t number, double& g_equal);

  /// Takes a chain on as take_on.hpp says; the calling task waits.
  void take_on(chain& c);

 private:
  struct visit {
    chain* which;
    bool done = false;
    std::exception_ptr error;
  };
  void serve();
  void launch(std::vector<visit*>& together);

  const problem problem_;
  gpu::device where_;
  walk_rules rules_;
  measurement_tables measured_;
  std::size_t most_team_bytes_ = 0;
  gpu::memory records_;

  task::mutex mutex_;  // of all that follows
  task::condition_variable came_, went_;
  std::map<const g0_table*, gpu::memory> tables_;
  std::vector<visit*> waiting_;
  bool end_ = false;
  std::jthread server_;
};

}  // namespace plaq::dca::device
