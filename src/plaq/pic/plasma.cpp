#include "plaq/pic/plasma.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/pic/neighbours.hpp"
#include "plaq/pic/poisson.hpp"
#include "plaq/pic/window.hpp"
#include "plaq/task/backends.hpp"

namespace plaq::pic {

namespace {

std::shared_ptr<task::detail::pool_base> make_pool(std::string_view name, const task::options& how) {
  return task::of_backend(name, [&]<class Backend>() -> std::shared_ptr<task::detail::pool_base> {
    return std::make_shared<typename Backend::pool>(how);
  });
}

/// Homes by cutting the Hilbert curve into parts of equal estimated load: before the first particle exists.
homes<index3> dealt(const plan& p, const std::vector<double>& estimate, int ranks) {
  const box<index3> all(index_of(p.patches));
  if (estimate.empty()) return along_hilbert(all);
  if (estimate.size() != all.size())
    throw input_error("estimate: " + std::to_string(estimate.size()) + " loads for " + std::to_string(all.size()) +
                      " patches");
  balance::situation s{.ranks = ranks, .loads = estimate, .where = std::vector<int>(estimate.size())};
  for (int n = 0; n < int(all.size()); ++n)
    s.positions.push_back(elements::hilbert_position(point_of(patch_of(p, n)), p.patches));
  balance::need_sound(s);
  auto out = by_rule(all, [p, where = balance::hilbert_cut(s)](const index3& at, int) {
    return where[std::size_t(number_of(p, at))];
  });
  out.position = [extent = p.patches](const index3& at) { return elements::hilbert_position(point_of(at), extent); };
  return out;
}

template <class T>
class on_patches final : public plasma {
  using patches = collection<patch<T>, index3>;

 public:
  on_patches(const plan& p, const comm::communicator& over, const making& how)
      : plasma(p),
        over_(over),
        pool_(make_pool(how.backend, how.pool)),
        patches_(made(over, how)),
        parcels_(patches_->template make_port<parcel<T>>("particles and currents")),
        edges_(patches_->template make_port<halo<T>>("fields")),
        charges_(patches_->template make_port<halo<T>>("charge")) {
    if (!how.folder.empty()) find_step();
  }

  void start() override {
    send_edges("begin");
    patches_->each("begin", edges_.of(around()), [this](patch<T>& me, auto& here) {
      for (auto& [from, came] : here.take(edges_)) take(me, came);
      begin_fields(me);
    });
    if (plan_.electrostatic) electric_from_charge();
    sum_charge("charge");
    patches_->each("begin", [this](patch<T>& me) { begin(plan_, me); });
    wait();
    count();
  }

  std::vector<double> advance(int n, bool gauss) override {
    if (n < 1) throw input_error("advance: " + std::to_string(n) + " steps");
    if (plan_.shifted(step_ + n - 1) != plan_.shifted(step_))
      throw input_error("advance: the window moves before " + std::to_string(n) + " steps are done");
    for (int i = 0; i < n; ++i) {
      one_step(i == 0);
      if (gauss && !plan_.window.on()) {
        if (!plan_.electrostatic) sum_charge("charge");
        patches_->each("gauss", [this](patch<T>& me) { look_at_gauss(plan_, me); });
      }
    }
    auto found = patches_->reduce(
        "records", [](const patch<T>& me) { return me.done; }, std::vector<double>(),
        [this](std::vector<double> a, const std::vector<double>& b) {
          return record::together(plan_, std::move(a), b);
        });
    wait();
    auto rows = found.get();
    need_all(rows);
    step_ += n;
    return rows;
  }

  balanced balance(const balancing& how) override {
    auto came_to = patches_->balance(how);
    wait();
    return came_to.get();
  }

  void record_loads(const std::filesystem::path& file) override { patches_->record_loads(file); }

  void save(const std::filesystem::path& folder) override {
    here_.clear();
    patches_->save(folder);
  }

  std::vector<int> homes() override {
    patches_->each("where", [](patch<T>& me, auto& here) { me.rank = here.rank(); });
    auto all = patches_->reduce(
        "where", [](const patch<T>& me) { return std::pair(me.number, me.rank); },
        std::vector<int>(std::size_t(number_of_patches())),
        [](std::vector<int> a, const std::pair<int, int>& b) {
          a[std::size_t(b.first)] = b.second;
          return a;
        });
    wait();
    return all.get();
  }

  void solve_poisson() override {
    electric_from_charge();
    wait();
  }
  void shift() override {
    patches_->each("window", [this](patch<T>& me, auto& here) {
      auto out = pic::shift(plan_, me);
      if (const auto found = ahead_.find(me.number); found != ahead_.end()) {
        region r = own(me.mesh);
        r.low[0] = r.high[0] - 1;
        put_fields(me, r, found->second);
      }
      index3 before = here.index();
      if (before.x-- > 0) here.send(parcels_, before, std::move(out));
    });
    const auto from = [this](const index3& at) { return std::size_t(at.x + 1 < plan_.patches[0]); };
    patches_->each("window", parcels_.of(from), [this](patch<T>& me, auto& here) {
      for (auto& [from, came] : here.take(parcels_)) take(plan_, me, std::move(came));
      send_edges(me, here);
    });
    patches_->each("window", edges_.of(around()), [this](patch<T>& me, auto& here) {
      for (auto& [from, came] : here.take(edges_)) take(me, came);
      if (ahead_.contains(me.number)) close_b(me.mesh, me.walls, me.f, me.mesh.cells[0] - 1);
      mirror_fields(me.mesh, me.walls, me.f);
    });
    wait();
    ahead_.clear();
  }
  void charge() override {
    sum_charge("charge");
    wait();
  }

  std::vector<int> local() override {
    std::vector<int> out;
    for (const auto& [number, me] : here()) out.push_back(number);
    return out;
  }
  void load(int number, std::size_t s, const loaded& what) override { pic::load(plan_, at(number), known(s), what); }
  void set_fields(int number, std::span<const double> e, std::span<const double> b) override {
    patch<T>& me = at(number);
    put_fields(me, own(me.mesh), numbers("set_fields", number, own(me.mesh).size(), {e, b}));
  }
  void set_ahead(int number, std::span<const double> e, std::span<const double> b) override {
    const block& m = at(number).mesh;
    ahead_[number] = numbers("set_ahead", number, own(m).size() / std::size_t(m.cells[0]), {e, b});
  }
  void set_outside(int number, std::span<const double> e) override {
    patch<T>& me = at(number);
    const auto all = numbers("set_outside", number, me.mesh.size(), {e});
    for (std::size_t c = 0; c < 3; ++c) {
      const auto begin = all.begin() + std::ptrdiff_t(c * me.mesh.size());
      me.outside[c].assign(begin, begin + std::ptrdiff_t(me.mesh.size()));
    }
  }
  std::vector<double> field(int number, std::string_view name) override {
    patch<T>& me = at(number);
    const auto& names = field_names();
    const auto which = std::size_t(std::ranges::find(names, name) - names.begin());
    if (which == names.size())
      throw input_error("\"" + std::string(name) + "\" is no field: ex ... bz, jx ... jz, rho, phi");
    if (name == "phi" && me.f.phi.empty()) throw input_error("phi is a field of electrostatic plans");
    const std::array all{&me.f.e[0], &me.f.e[1], &me.f.e[2], &me.f.b[0], &me.f.b[1], &me.f.b[2],
                         &me.f.j[0], &me.f.j[1], &me.f.j[2], &me.f.rho,  &me.f.phi};
    std::vector<T> out;
    append(me.mesh, own(me.mesh), *all[which], out);
    return {out.begin(), out.end()};
  }
  seen particles(int number, std::size_t s) override {
    const patch<T>& me = at(number);
    const auto& all = me.kinds[known(s)];
    seen out;
    out.id = all.id;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (int d = 0; d < plan_.dimensions; ++d)
        out.x.push_back((me.mesh.first[d] + all.cell[d][i] + double(all.x[d][i])) * me.mesh.spacing[d]);
      for (int c = 0; c < 3; ++c) out.u.push_back(double(all.u[c][i]));
      out.w.push_back(double(all.w[i]));
    }
    return out;
  }

 private:
  std::unique_ptr<patches> made(const comm::communicator& over, const making& how) {
    auto where = dealt(plan_, how.estimate, over.size());
    if (how.folder.empty())
      return std::make_unique<patches>("patches", over, *pool_, std::move(where),
                                       [this](const index3& at) { return patch<T>(plan_, point_of(at)); });
    return std::make_unique<patches>("patches", over, *pool_, std::move(where), saved{how.folder});
  }

  /// How many neighbours a patch has.
  auto around() const {
    return [this](const index3& at) { return neighbours(plan_, at).size(); };
  }
  void send_edges(const char* name) {
    patches_->each(name, [this](patch<T>& me, auto& here) { send_edges(me, here); });
  }
  void send_edges(patch<T>& me, auto& here) {
    for (const auto& to : neighbours(plan_, here.index())) here.send(edges_, to.at, edge_for(me, to.shift));
  }

  /// Send what go(patch, shifts of its neighbours) returns to these neighbours.
  template <class Go>
  void send_parcels(const char* name, Go go) {
    patches_->each(name, [this, go](patch<T>& me, auto& here) {
      const auto all = neighbours(plan_, here.index());
      std::vector<point> shifts;
      for (const auto& to : all) shifts.push_back(to.shift);
      auto out = go(me, shifts);
      for (std::size_t i = 0; i < all.size(); ++i) here.send(parcels_, all[i].at, std::move(out[i]));
    });
  }

  void one_step(bool first) {
    send_parcels("push", [this, first](patch<T>& me, const std::vector<point>& shifts) {
      if (first) me.done.clear();
      return push(plan_, me, shifts);
    });
    if (plan_.electrostatic) {
      take_parcels();
      while (any_waits()) {
        send_parcels("push",
                     [this](patch<T>& me, const std::vector<point>& shifts) { return go_on(plan_, me, shifts); });
        take_parcels();
      }
      patches_->each("count", [this](patch<T>& me) { pic::count(plan_, me); });
      electric_from_charge();
      patches_->each("complete", [this](patch<T>& me) { complete(plan_, me); });
    } else {
      patches_->each("fields", parcels_.of(around()), [this](patch<T>& me, auto& here) {
        for (auto& [from, came] : here.take(parcels_)) take(plan_, me, std::move(came));
        pic::count(plan_, me);
        advance_fields(plan_, me);
        send_edges(me, here);
      });
      patches_->each("complete", edges_.of(around()), [this](patch<T>& me, auto& here) {
        for (auto& [from, came] : here.take(edges_)) take(me, came);
        complete_fields(plan_, me);
        complete(plan_, me);
      });
    }
  }

  void take_parcels() {
    patches_->each("take", parcels_.of(around()), [this](patch<T>& me, auto& here) {
      for (auto& [from, came] : here.take(parcels_)) take(plan_, me, std::move(came));
    });
  }
  /// Whether particles are still within their step, in any patch. Waits for all.
  bool any_waits() {
    auto found =
        patches_->reduce("waiting", [](const patch<T>& me) { return me.waiting(); }, std::size_t(0), std::plus<>());
    wait();
    return found.get() > 0;
  }

  /// Waits for all patches.
  void electric_from_charge() {
    sum_charge("charge");
    wait();
    if (!poisson_) poisson_ = std::make_unique<poisson>(plan_, over_, *pool_);
    std::vector<piece> rho;
    for (const auto& [number, me] : here()) {
      std::vector<T> own_cells;
      append(me->mesh, own(me->mesh), me->f.rho, own_cells);
      rho.push_back({number, {own_cells.begin(), own_cells.end()}});
    }
    auto phi = std::make_shared<std::map<int, std::vector<double>>>();
    for (piece& one : poisson_->solve(rho)) (*phi)[one.patch] = std::move(one.values);
    here_.clear();
    patches_->each("electric field", [this, phi](patch<T>& me) { set_electric(plan_, me, phi->at(me.number)); });
  }

  void sum_charge(const char* name) {
    patches_->each(name, [this](patch<T>& me, auto& here) {
      begin_charge(plan_, me);
      for (const auto& to : neighbours(plan_, here.index())) here.send(charges_, to.at, charge_for(me, to.shift));
    });
    patches_->each(name, charges_.of(around()), [this](patch<T>& me, auto& here) {
      for (auto& [from, came] : here.take(charges_)) take_charge(me, came);
    });
  }

  void wait() {
    here_.clear();
    patches_->wait();
  }

  /// The steps that the patches of a checkpoint have done, and how many particles they have.
  void find_step() {
    auto done = patches_->reduce(
        "step", [](const patch<T>& me) { return me.step; }, std::int64_t(0),
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    wait();
    step_ = done.get();
    count();
  }
  void count() {
    auto all = patches_->reduce(
        "count",
        [](const patch<T>& me) {
          std::vector<double> n;  // numbers, then weights, as they were before what the next record will say
          for (const auto& k : me.kinds) n.push_back(double(k.size()));
          for (const auto& k : me.kinds) n.push_back(std::accumulate(k.w.begin(), k.w.end(), 0.0));
          for (std::size_t s = 0; s < me.kinds.size(); ++s) {
            const double* row = me.next.data() + record::at(s, 0);
            n[s] += row[record::left] - row[record::emitted];
            n[s + me.kinds.size()] += row[record::left_weight] - row[record::emitted_weight];
          }
          return n;
        },
        std::vector<double>(2 * plan_.kinds.size()),
        [](std::vector<double> a, const std::vector<double>& b) {
          for (std::size_t s = 0; s < a.size(); ++s) a[s] += b[s];
          return a;
        });
    wait();
    const auto found = all.get();
    const auto half = found.begin() + std::ptrdiff_t(plan_.kinds.size());
    numbers_.assign(found.begin(), half), weights_.assign(half, found.end());
  }

  /// What is there is what was there, but for what left.
  void need_all(const std::vector<double>& rows) {
    const std::size_t length = record::length(plan_);
    for (std::size_t row = 0; row * length < rows.size(); ++row)
      for (std::size_t s = 0; s < plan_.kinds.size(); ++s) {
        const double* found = rows.data() + row * length + record::at(s, 0);
        double left = 0, left_weight = 0;
        for (std::size_t side = 0; side < 6; ++side)
          left += found[record::left + side], left_weight += found[record::left_weight + side];
        const double expected = numbers_[s] - left + found[record::emitted] - found[record::absorbed],
                     weight = found[record::weight];
        const double expected_weight =
            weights_[s] - left_weight + found[record::emitted_weight] - found[record::absorbed_weight];
        const double size = std::abs(weights_[s]) + std::abs(found[record::emitted_weight]);
        const bool charge_kept = std::abs(weight - expected_weight) <= 1e-9 * size;
        if (found[record::number] != expected || !charge_kept) {
          std::ostringstream text;
          text << "step " << step_ + std::int64_t(row) + 1 << ": of species \"" << plan_.kinds[s].name
               << "\" there are " << found[record::number] << " particles of weight " << weight
               << ", and there should be " << expected << " of " << expected_weight;
          throw runtime_failure(text.str());
        }
        numbers_[s] = expected;
        weights_[s] = weight;
      }
  }

  std::map<int, patch<T>*>& here() {
    if (here_.empty()) patches_->each_here([this](const index3&, patch<T>& me) { here_[me.number] = &me; });
    return here_;
  }
  patch<T>& at(int number) {
    const auto found = here().find(number);
    if (found == here().end()) throw input_error("patch " + std::to_string(number) + " is not on this rank");
    return *found->second;
  }
  std::size_t known(std::size_t s) const {
    if (s >= plan_.kinds.size())
      throw input_error("species " + std::to_string(s) + " of " + std::to_string(plan_.kinds.size()));
    return s;
  }
  /// Three components of each of these fields, one after the other.
  static std::vector<T> numbers(const char* what, int patch, std::size_t n,
                                std::initializer_list<std::span<const double>> of) {
    std::vector<T> out;
    for (const auto& field : of) {
      if (field.size() != 3 * n)
        throw input_error(std::string(what) + ": patch " + std::to_string(patch) + " needs 3 x " + std::to_string(n) +
                          " numbers of a field");
      out.insert(out.end(), field.begin(), field.end());
    }
    return out;
  }
  /// E and B there.
  static void put_fields(patch<T>& me, const region& r, const std::vector<T>& all) {
    const T* from = all.data();
    for (auto* field : {&me.f.e, &me.f.b})
      for (auto& component : *field) from = put(me.mesh, r, from, component);
  }
  int number_of_patches() const { return plan_.patches[0] * plan_.patches[1] * plan_.patches[2]; }

  const comm::communicator& over_;
  std::shared_ptr<task::detail::pool_base> pool_;
  std::unique_ptr<patches> patches_;
  port<patch<T>, index3, parcel<T>> parcels_;
  port<patch<T>, index3, halo<T>> edges_, charges_;
  std::unique_ptr<poisson> poisson_;     ///< once it is needed
  std::map<int, std::vector<T>> ahead_;  ///< E and B of what comes in when the window moves next, by patch
  std::map<int, patch<T>*> here_;        ///< of this rank, while nothing goes on
  std::vector<double> numbers_, weights_;
};

}  // namespace

const std::vector<std::string>& field_names() {
  static const std::vector<std::string> all{"ex", "ey", "ez", "bx", "by", "bz", "jx", "jy", "jz", "rho", "phi"};
  return all;
}

block plasma::mesh(int number) const {
  if (number < 0 || number >= plan_.patches[0] * plan_.patches[1] * plan_.patches[2])
    throw input_error("there is no patch " + std::to_string(number));
  return {plan_, point_of(patch_of(plan_, number))};
}

block plasma::mesh_now(int number) const {
  block out = mesh(number);
  out.first[0] += int(plan_.shifted(step_));
  return out;
}

std::unique_ptr<plasma> make_plasma(const plan& p, const comm::communicator& over, const making& how) {
  p.check();
  if (how.single) return std::make_unique<on_patches<float>>(p, over, how);
  return std::make_unique<on_patches<double>>(p, over, how);
}

}  // namespace plaq::pic
