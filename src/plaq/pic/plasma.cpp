#include "plaq/pic/plasma.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/pic/electrostatics.hpp"
#include "plaq/pic/exchange.hpp"
#include "plaq/pic/fields/cylinder.hpp"
#include "plaq/pic/fields/field_boundaries.hpp"
#include "plaq/pic/mesh/conservation.hpp"
#include "plaq/pic/mesh/initial_homes.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/poisson/poisson.hpp"
#include "plaq/pic/processes/field_values.hpp"
#include "plaq/pic/processes/moving_window.hpp"
#include "plaq/pic/step.hpp"
#include "plaq/task/backends.hpp"

namespace plaq::pic {

namespace {

std::shared_ptr<task::detail::pool_base> make_pool(std::string_view name, const task::options& options) {
  return task::of_backend(name, [&]<class Backend>() -> std::shared_ptr<task::detail::pool_base> {
    return std::make_shared<typename Backend::pool>(options);
  });
}

/// Plasma with fields and particles of one precision.
template <class T>
class patch_plasma final : public plasma {
  using patches = collection<patch<T>, index3>;

 public:
  patch_plasma(const plan& p, const comm::communicator& over, const plasma_options& options)
      : plasma(p),
        over_(over),
        pool_(make_pool(options.backend, options.pool)),
        patches_(make_patches(over, options)),
        exchange_(plan_, *patches_) {
    if (!options.folder.empty()) resume();
  }

  void start() override {
    exchange_.send_halos("begin");
    exchange_.receive_halos("begin", [](patch<T>& self) { initialise_fields(self); });
    if (plan_.electrostatic) solve_electric_field(fixed_potentials_, circuits::phase::at_rest);
    exchange_.sum_charge("charge");
    patches_->each("begin", [this](patch<T>& self) { initialise_momenta(plan_, self); });
    wait();
    count_all();
  }

  std::vector<double> advance(int n, bool gauss, std::span<const double> potentials, bool current) override {
    if (n < 1) throw input_error("advance: " + std::to_string(n) + " steps");
    const std::size_t electrodes = fixed_potentials_.size();
    if (!potentials.empty() && (!plan_.electrostatic || potentials.size() != std::size_t(n) * electrodes))
      throw input_error("advance: potentials of " + std::to_string(electrodes) + " electrodes in each of " +
                        std::to_string(n) + " steps of an electrostatic plan");
    if (plan_.window_shift(step_ + n - 1) != plan_.window_shift(step_))
      throw input_error("advance: the window moves before " + std::to_string(n) + " steps are done");
    for (int i = 0; i < n; ++i) {
      const auto now = potentials.empty() ? std::span<const double>(fixed_potentials_)
                                          : potentials.subspan(std::size_t(i) * electrodes, electrodes);
      has_current_ = !plan_.electrostatic || (current && i == n - 1 && !plan_.cylinder);
      one_step(i == 0, {now.begin(), now.end()});
      if (gauss && !plan_.window.enabled()) {
        if (!plan_.electrostatic) exchange_.sum_charge("charge");
        patches_->each("gauss", [this](patch<T>& self) { check_gauss_law(plan_, self); });
      }
    }
    auto records = patches_->reduce(
        "records", [](const patch<T>& self) { return self.rows; }, std::vector<double>(),
        [this](std::vector<double> a, const std::vector<double>& b) { return record::merge(plan_, std::move(a), b); });
    wait();
    auto rows = records.get();
    counts_.follow(plan_, step_, rows);
    step_ += n;
    return rows;
  }

  balance_result balance(const balance_options& options) override {
    auto outcome = patches_->balance(options);
    wait();
    return outcome.get();
  }

  void record_loads(const std::filesystem::path& file) override { patches_->record_loads(file); }

  void save(const std::filesystem::path& folder) override {
    local_patches_.clear();
    patches_->save(folder);
  }

  std::vector<int> homes() override {
    patches_->each("where", [](patch<T>& self, auto& context) { self.rank = context.rank(); });
    auto all = patches_->reduce(
        "where", [](const patch<T>& self) { return std::vector{std::pair(self.number, self.rank)}; },
        [](std::vector<std::pair<int, int>> a, const std::vector<std::pair<int, int>>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
    wait();
    std::vector<int> out(static_cast<std::size_t>(number_of_patches()), 0);
    for (const auto& [number, rank] : all.get()) out[std::size_t(number)] = rank;
    return out;
  }

  void solve_poisson() override {
    solve_electric_field(fixed_potentials_, circuits::phase::at_rest);
    wait();
  }
  void add_moving_field(std::size_t s, const drift_along& motion) override {
    check_species(s);
    std::array<double, 3> scale{1, 1, 1};
    scale[std::size_t(motion.dimension)] = 1 - motion.beta * motion.beta;
    const auto of_moving = make_poisson(plan_, over_, *pool_, scale);
    exchange_.sum_charge("charge", int(s));
    const auto phi = potentials_of_charge(plan_, *patches_, *of_moving, fixed_potentials_);
    patches_->each("moving field", [phi, motion](patch<T>& self) {
      pic::add_moving_field(self.mesh, phi->at(self.number), motion, self.f);
    });
    wait();
  }
  void shift_window() override {
    exchange_.send_parcels_down("window", [this](patch<T>& self) {
      auto out = shift_patch(plan_, self);
      if (const auto incoming = incoming_fields_.find(self.number); incoming != incoming_fields_.end()) {
        region r = own_cells(self.mesh);
        r.low[0] = r.high[0] - 1;
        put_fields(self.mesh, self.f, r, incoming->second);
      }
      return out;
    });
    exchange_.receive_parcels_from_above(
        "window", [this](patch<T>& self, auto& context) { exchange_.send_halos(self, context); });
    exchange_.receive_halos("window", [this](patch<T>& self) {
      if (incoming_fields_.contains(self.number)) close_b(self.mesh, self.walls, self.f, self.mesh.cells[0] - 1);
      for_each_part(self.f, [&](auto& part) { mirror_fields(self.mesh, self.walls, part); });
      mirror_at_axis(self.mesh, self.f);
    });
    wait();
    incoming_fields_.clear();
  }
  void compute_charge() override {
    exchange_.sum_charge("charge");
    wait();
  }

  std::vector<int> local_patches() override {
    std::vector<int> out;
    for (const auto& [number, self] : patches_here()) out.push_back(number);
    return out;
  }
  void load(int number, std::size_t s, const particle_source& source) override {
    pic::load(plan_, local_patch(number), check_species(s), source);
  }
  void set_fields(int number, std::span<const double> e, std::span<const double> b, int part) override {
    patch<T>& self = local_patch(number);
    put_fields(self.mesh, part_of(self, part), own_cells(self.mesh),
               components<T>("set_fields", number, own_cells(self.mesh).size(), {e, b}));
  }
  void set_incoming_fields(int number, std::span<const double> e, std::span<const double> b) override {
    const patch_grid& m = local_patch(number).mesh;
    incoming_fields_[number] =
        components<T>("set_incoming_fields", number, own_cells(m).size() / std::size_t(m.cells[0]), {e, b});
  }
  std::vector<double> field(int number, std::string_view name, int part) override {
    patch<T>& self = local_patch(number);
    fields<T>& f = part_of(self, part);
    const auto& names = field_names();
    const auto number_of_field = std::size_t(std::ranges::find(names, name) - names.begin());
    if (number_of_field == names.size())
      throw input_error("\"" + std::string(name) + "\" is not a field: ex ... bz, jx ... jz, rho, phi");
    if (name == "phi" && f.phi.empty()) throw input_error("phi is a field of electrostatic plans");
    if (name.starts_with('j') && !has_current_) throw input_error("the last step was advanced without its current");
    const std::array all{&f.e[0], &f.e[1], &f.e[2], &f.b[0], &f.b[1], &f.b[2],
                         &f.j[0], &f.j[1], &f.j[2], &f.rho,  &f.phi};
    std::vector<T> out;
    append(self.mesh, own_cells(self.mesh), *all[number_of_field], out);
    return {out.begin(), out.end()};
  }
  particle_view particles(int number, std::size_t s) override {
    const patch<T>& self = local_patch(number);
    const auto& all = self.species[check_species(s)];
    particle_view out;
    out.id = all.id;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (int d = 0; d < plan_.dimensions; ++d)
        out.x.push_back((self.mesh.first[d] + all.cell[d][i] + double(all.x[d][i])) * self.mesh.spacing[d]);
      for (int c = 0; c < 3; ++c) out.u.push_back(double(all.u[c][i]));
      out.w.push_back(double(all.w[i]));
      for (const auto& part : all.azimuth)
        if (!part.empty()) out.azimuth.push_back(double(part[i]));
    }
    return out;
  }
  std::pair<std::size_t, double> bound_of_moment(int number, std::size_t s, moment of) override {
    return pic::bound_of_moment(plan_, local_patch(number), check_species(s), of);
  }
  std::vector<double> count_at_nodes(int number, std::size_t s, moment of, int unit) override {
    return pic::count_at_nodes(plan_, local_patch(number), check_species(s), of, unit);
  }
  std::vector<double> count_in_bins(int number, std::size_t s, const std::vector<histogram_axis>& axes, double offset,
                                    int unit) override {
    return pic::count_in_bins(plan_, local_patch(number), check_species(s), axes, offset, unit);
  }

 private:
  std::unique_ptr<patches> make_patches(const comm::communicator& over, const plasma_options& options) {
    auto where = initial_homes(plan_, options.estimate, over.size());
    if (options.folder.empty())
      return std::make_unique<patches>("patches", over, *pool_, std::move(where),
                                       [this](const index3& at) { return patch<T>(plan_, point_of(at)); });
    return std::make_unique<patches>("patches", over, *pool_, std::move(where), checkpoint{options.folder});
  }

  void one_step(bool first, const std::vector<double>& potentials) {
    exchange_.send_parcels("push",
                           [this, first, current = has_current_](patch<T>& self, const std::vector<point>& shifts) {
                             if (first) self.rows.clear();
                             return push(plan_, self, shifts, current);
                           });
    if (plan_.electrostatic) {
      exchange_.receive_parcels("take");
      while (any_unfinished()) {
        exchange_.send_parcels("push", [this](patch<T>& self, const std::vector<point>& shifts) {
          return continue_push(plan_, self, shifts);
        });
        exchange_.receive_parcels("take");
      }
      patches_->each("count", [this](patch<T>& self) { count_particles(plan_, self); });
      solve_electric_field(potentials, step_ == 0 && first ? circuits::phase::first_step : circuits::phase::step);
      patches_->each("complete", [this](patch<T>& self) { finish_step(plan_, self); });
    } else {
      const auto fields = [this](patch<T>& self, auto& context) {
        count_particles(plan_, self);
        advance_fields(plan_, self);
        exchange_.send_halos(self, context);
      };
      if (plan_.filter_passes > 0) {
        exchange_.receive_parcels("take");
        exchange_.filter("filter", source::current);
        patches_->each("fields", fields);
      } else {
        exchange_.receive_parcels("fields", fields);
      }
      exchange_.receive_halos("complete", [this](patch<T>& self) {
        complete_fields(plan_, self);
        finish_step(plan_, self);
      });
    }
  }

  /// Returns whether particles of any patch have not finished their step. Waits for all patches.
  bool any_unfinished() {
    auto unfinished = patches_->reduce(
        "waiting", [](const patch<T>& self) { return self.unfinished(); }, std::size_t(0), std::plus<>());
    wait();
    return unfinished.get() > 0;
  }

  /// Sums the charge and solves Poisson's equation; `potentials` of circuits are those of their sources. Waits for all
  /// patches.
  void solve_electric_field(const std::vector<double>& potentials, circuits::phase when) {
    if (!electrostatics_) electrostatics_ = std::make_unique<electrostatics<T>>(plan_, over_, *pool_, *patches_);
    exchange_.sum_charge("charge");
    local_patches_.clear();
    electrostatics_->solve(potentials, when);
  }
  void wait() {
    local_patches_.clear();
    patches_->wait();
  }

  /// Reads the step of a checkpoint's patches, and counts their particles.
  void resume() {
    auto step = patches_->reduce(
        "step", [](const patch<T>& self) { return self.step; }, std::int64_t(0),
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    wait();
    step_ = step.get();
    count_all();
  }
  /// Counts the particles and weights of each species, without those of the next record.
  void count_all() {
    auto all = patches_->reduce(
        "count",
        [](const patch<T>& self) {
          std::vector<double> n;  // numbers, then weights
          for (const auto& k : self.species) n.push_back(double(k.size()));
          for (const auto& k : self.species) n.push_back(std::accumulate(k.w.begin(), k.w.end(), 0.0));
          for (std::size_t s = 0; s < self.species.size(); ++s) {
            const double* row = self.next_row.data() + record::at(s, 0);
            n[s] += row[record::left] - row[record::emitted];
            n[s + self.species.size()] += row[record::left_weight] - row[record::emitted_weight];
          }
          return n;
        },
        std::vector<double>(2 * plan_.species_list.size()),
        [](std::vector<double> a, const std::vector<double>& b) {
          for (std::size_t s = 0; s < a.size(); ++s) a[s] += b[s];
          return a;
        });
    wait();
    counts_.assign(all.get());
  }

  /// Patches of this rank by number.
  std::map<int, patch<T>*>& patches_here() {
    if (local_patches_.empty())
      patches_->each_local([this](const index3&, patch<T>& self) { local_patches_[self.number] = &self; });
    return local_patches_;
  }
  patch<T>& local_patch(int number) {
    const auto entry = patches_here().find(number);
    if (entry == patches_here().end()) throw input_error("patch " + std::to_string(number) + " is not on this rank");
    return *entry->second;
  }
  fields<T>& part_of(patch<T>& self, int part) const {
    if (part < 0 || part > int(self.f.modes.size()))
      throw input_error("part " + std::to_string(part) + " of the modes, from 0 to " +
                        std::to_string(self.f.modes.size()));
    return part ? self.f.modes[std::size_t(part - 1)] : self.f;
  }
  std::size_t check_species(std::size_t s) const {
    if (s >= plan_.species_list.size())
      throw input_error("species " + std::to_string(s) + " of " + std::to_string(plan_.species_list.size()));
    return s;
  }
  int number_of_patches() const { return plan_.patches[0] * plan_.patches[1] * plan_.patches[2]; }

  const comm::communicator& over_;
  std::shared_ptr<task::detail::pool_base> pool_;
  std::unique_ptr<patches> patches_;
  exchange<T> exchange_;
  std::unique_ptr<electrostatics<T>> electrostatics_;  ///< made at first use
  std::map<int, std::vector<T>> incoming_fields_;      ///< E and B of the cells that enter next, by patch
  std::map<int, patch<T>*> local_patches_;             ///< of this rank, while no task runs
  particle_counts counts_;
  bool has_current_ = true;  ///< of the last step
  const std::vector<double> fixed_potentials_ = plan_.electrode_potentials();
};

}  // namespace

const std::vector<std::string>& field_names() {
  static const std::vector<std::string> all{"ex", "ey", "ez", "bx", "by", "bz", "jx", "jy", "jz", "rho", "phi"};
  return all;
}

patch_grid plasma::mesh(int number) const {
  if (number < 0 || number >= plan_.patches[0] * plan_.patches[1] * plan_.patches[2])
    throw input_error("there is no patch " + std::to_string(number));
  return {plan_, point_of(patch_of(plan_, number))};
}

patch_grid plasma::shifted_mesh(int number) const {
  patch_grid out = mesh(number);
  out.first[0] += int(plan_.window_shift(step_));
  return out;
}

std::unique_ptr<plasma> make_plasma(const plan& p, const comm::communicator& over, const plasma_options& options) {
  p.check();
  plan completed = p;
  completed.complete();
  if (options.single) return std::make_unique<patch_plasma<float>>(completed, over, options);
  return std::make_unique<patch_plasma<double>>(completed, over, options);
}

}  // namespace plaq::pic
