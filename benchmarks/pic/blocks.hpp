// Patches of a bulk-synchronous program: a rank exchanges a message with each neighbour rank twice a step, and Zoltan
// moves patches between ranks, where it is installed.
#pragma once
#include <mpi.h>
#ifdef PLAQ_HAS_ZOLTAN
#include <zoltan.h>
#endif

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "plaq/collection/archive.hpp"
#include "plaq/pic/mesh/neighbours.hpp"

namespace plaq::bench {

/// Patches of this rank, by number.
class blocks {
  auto timed(int step, part what, times& clock, const patch<T>& self, auto f) {
    struct timing {
      double& to;
      double begin = times::now();
      ~timing() { to += times::now() - begin; }
    } const until_it_returns{load_[self.number]};
    return clock(step, what, f);
  }

 public:
  blocks(const task_at_hand& t, const plan& p) : t_(t), p_(p) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_), MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const plan of_ranks = box_of(t, ranks_);
    for (int k = 0; k < p_.patches[0] * p_.patches[1]; ++k) {
      const index3 at = patch_of(p_, k);
      rank_of_.push_back(patch_number(
          of_ranks, {at.x * of_ranks.patches[0] / p_.patches[0], at.y * of_ranks.patches[1] / p_.patches[1], 0}));
      if (rank_of_.back() != rank_) continue;
      here.emplace(k, patch<T>(p_, point_of(at)));
      here.at(k).row.assign(record::length(p_), 0);
    }
  }

  void move_particles(int step, times& clock) {
    auto received = swapped<parcel<T>>([&](patch<T>& self, const std::vector<point>& shifts) {
      return timed(step, particles_, clock, self, [&] { return work(t_, p_, self, shifts); });
    });
    for (auto& [number, self] : here)
      timed(step, particles_, clock, self, [&] {
        for (auto& message : received[number]) receive(p_, self, std::move(message));
        count_particles(p_, self);
      });
  }
  void advance(int step, times& clock) {
    auto received = swapped<halo<T>>([&](patch<T>& self, const std::vector<point>& shifts) {
      return timed(step, fields_, clock, self, [&] {
        advance_fields(p_, self);
        std::vector<halo<T>> edges;
        for (const point& shift : shifts) edges.push_back(make_halo(self, shift));
        return edges;
      });
    });
    for (auto& [number, self] : here)
      timed(step, fields_, clock, self, [&] {
        for (const auto& message : received[number]) receive(self, message);
        complete_fields(p_, self);
        finish_step(p_, self);
        self.rows.clear();
      });
  }

  /// Repartitions by the loads since the last time. Returns max/mean - 1 of the ranks' loads before.
  double repartition(const std::string& method);

  std::map<int, patch<T>> here;

 private:
  template <class V>
  using for_patch = std::pair<int, V>;

  double load(int number) { return t_.sleep.empty() ? load_[number] : t_.sleep[std::size_t(number)]; }

  /// Sends the messages that make(patch, shifts) returns to the patches at these shifts; returns those for the patches
  /// here, in the order of the patches that sent them.
  template <class V>
  std::map<int, std::vector<V>> swapped(auto make) {
    std::map<int, std::vector<for_patch<for_patch<V>>>> out{{rank_, {}}};  // by rank: from, to
    for (auto& [number, self] : here) {
      const auto around = neighbours(p_, patch_of(p_, number));
      std::vector<point> shifts;
      for (const auto& to : around) shifts.push_back(to.shift);
      auto messages = make(self, shifts);
      for (std::size_t i = 0; i < around.size(); ++i) {
        const int to = patch_number(p_, around[i].at);
        out[rank_of_[std::size_t(to)]].push_back({number, {to, std::move(messages[i])}});
      }
    }
    std::map<int, std::vector<for_patch<V>>> by_sender;
    const auto take = [&](std::vector<for_patch<for_patch<V>>> all) {
      for (auto& [from, message] : all) by_sender[from].push_back(std::move(message));
    };
    take(std::exchange(out[rank_], {}));
    out.erase(rank_);
    for (auto& bytes : exchanged(out)) take(elements::unpack<std::vector<for_patch<for_patch<V>>>>(bytes));
    std::map<int, std::vector<V>> received;
    for (auto& [from, messages] : by_sender)
      for (auto& [to, message] : messages) received[to].push_back(std::move(message));
    return received;
  }
  /// Sends what is for each rank, and receives from the same ranks.
  std::vector<std::vector<std::byte>> exchanged(const auto& out) const {
    std::vector<std::vector<std::byte>> going(out.size()), received;
    std::vector<MPI_Request> requests(out.size());
    std::size_t i = 0;
    for (const auto& [to, messages] : out) {
      archive::pack(messages, going[i]);
      MPI_Isend(going[i].data(), int(going[i].size()), MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[i]);
      ++i;
    }
    for (const auto& [from, messages] : out) {
      MPI_Message which;
      MPI_Status status;
      int size = 0;
      MPI_Mprobe(from, 0, MPI_COMM_WORLD, &which, &status);
      MPI_Get_count(&status, MPI_BYTE, &size);
      received.emplace_back(std::size_t(size));
      MPI_Mrecv(received.back().data(), size, MPI_BYTE, &which, &status);
    }
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return received;
  }

  std::vector<int> parts_by_zoltan(const std::string& method);
  void migrate(const std::vector<int>& to);

  const task_at_hand& t_;
  const plan p_;
  int rank_ = 0, ranks_ = 1;
  std::vector<int> rank_of_;    ///< of every patch, the same on all ranks
  std::map<int, double> load_;  ///< seconds of each patch here since the last balancing
};

/// Returns the rank of each patch that Zoltan chooses, on all ranks.
#ifdef PLAQ_HAS_ZOLTAN
inline std::vector<int> blocks::parts_by_zoltan(const std::string& method) {
  float version = 0;
  Zoltan_Initialize(0, nullptr, &version);
  Zoltan_Struct* z = Zoltan_Create(MPI_COMM_WORLD);
  const bool graph = method == "phg";
  const std::map<std::string, std::string> methods{{"rcb", "RCB"}, {"hsfc", "HSFC"}, {"phg", "HYPERGRAPH"}};
  for (const auto& [name, value] : std::map<std::string, std::string>{{"DEBUG_LEVEL", "0"},
                                                                      {"LB_METHOD", methods.at(method)},
                                                                      {"OBJ_WEIGHT_DIM", "1"},
                                                                      {"EDGE_WEIGHT_DIM", "0"},
                                                                      {"NUM_LID_ENTRIES", "0"},
                                                                      {"RETURN_LISTS", "PARTS"},
                                                                      {"IMBALANCE_TOL", "1.02"}})
    Zoltan_Set_Param(z, name.c_str(), value.c_str());
  static const auto of = [](void* data) -> blocks& { return *static_cast<blocks*>(data); };
  Zoltan_Set_Num_Obj_Fn(z, [](void* data, int* error) { return *error = 0, int(of(data).here.size()); }, this);
  Zoltan_Set_Obj_List_Fn(
      z,
      [](void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int, float* weights, int* error) {
        *error = 0;
        for (const auto& [number, patch] : of(data).here)
          *ids++ = ZOLTAN_ID_TYPE(number), *weights++ = float(of(data).load(number));
      },
      this);
  Zoltan_Set_Num_Geom_Fn(z, [](void*, int* error) { return *error = 0, 2; }, this);
  Zoltan_Set_Geom_Multi_Fn(
      z,
      [](void* data, int, int, int n, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int, double* to, int* error) {
        *error = 0;
        for (int i = 0; i < n; ++i) {
          const index3 at = patch_of(of(data).p_, int(ids[i]));
          *to++ = at.x, *to++ = at.y;
        }
      },
      this);
  if (graph) {
    Zoltan_Set_Num_Edges_Multi_Fn(
        z,
        [](void* data, int, int, int n, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int* to, int* error) {
          *error = 0;
          for (int i = 0; i < n; ++i) *to++ = int(neighbours(of(data).p_, patch_of(of(data).p_, int(ids[i]))).size());
        },
        this);
    Zoltan_Set_Edge_List_Multi_Fn(
        z,
        [](void* data, int, int, int n, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int*, ZOLTAN_ID_PTR to, int* ranks, int,
           float*, int* error) {
          *error = 0;
          for (int i = 0; i < n; ++i)
            for (const auto& next : neighbours(of(data).p_, patch_of(of(data).p_, int(ids[i])))) {
              *to = ZOLTAN_ID_TYPE(patch_number(of(data).p_, next.at));
              *ranks++ = of(data).rank_of_[*to++];
            }
        },
        this);
  }
  int changes, ids, local_ids, imports, exports, *ranks[2], *parts[2];
  ZOLTAN_ID_PTR of_import[2], of_export[2];
  const int code = Zoltan_LB_Partition(z, &changes, &ids, &local_ids, &imports, &of_import[0], &of_import[1], &ranks[0],
                                       &parts[0], &exports, &of_export[0], &of_export[1], &ranks[1], &parts[1]);
  if (code != ZOLTAN_OK) throw std::runtime_error("Zoltan: error " + std::to_string(code));
  std::vector<int> to(rank_of_.size(), -1);
  for (int i = 0; i < exports; ++i) to[of_export[0][i]] = parts[1][i];
  Zoltan_LB_Free_Part(&of_import[0], &of_import[1], &ranks[0], &parts[0]);
  Zoltan_LB_Free_Part(&of_export[0], &of_export[1], &ranks[1], &parts[1]);
  Zoltan_Destroy(&z);
  MPI_Allreduce(MPI_IN_PLACE, to.data(), int(to.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return to;
}

#else
inline std::vector<int> blocks::parts_by_zoltan(const std::string&) {
  throw std::runtime_error("built without Zoltan: Debian's libtrilinos-zoltan-dev");
}
#endif

inline double blocks::repartition(const std::string& method) {
  std::vector<double> loads(std::size_t(ranks_), 0);
  for (const auto& [number, self] : here) loads[std::size_t(rank_)] += load(number);
  MPI_Allreduce(MPI_IN_PLACE, loads.data(), ranks_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  migrate(parts_by_zoltan(method));
  load_.clear();
  return *std::ranges::max_element(loads) * ranks_ / std::accumulate(loads.begin(), loads.end(), 0.0) - 1;
}
inline void blocks::migrate(const std::vector<int>& to) {
  std::set<int> partners;  // both ways, so that a rank knows whom it hears from
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (rank_of_[k] == to[k]) continue;
    if (rank_of_[k] == rank_) partners.insert(to[k]);
    if (to[k] == rank_) partners.insert(rank_of_[k]);
  }
  std::map<int, std::vector<for_patch<patch<T>>>> out;
  for (const int rank : partners) out[rank];
  for (auto it = here.begin(); it != here.end();)
    if (const int rank = to[std::size_t(it->first)]; rank != rank_) {
      out[rank].emplace_back(it->first, std::move(it->second));
      it = here.erase(it);
    } else {
      ++it;
    }
  rank_of_ = to;
  for (auto& bytes : exchanged(out))
    for (auto& [number, self] : elements::unpack<std::vector<for_patch<patch<T>>>>(bytes))
      here.emplace(number, std::move(self));
}

}  // namespace plaq::bench
