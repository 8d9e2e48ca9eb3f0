// Messages between neighbouring patches, and the tasks that send and receive them.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/processes/filter.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::pic {

/// Exchange of fields, particles, currents and charges between the patches of a collection. Each function adds a task
/// to every patch and does not wait for it.
template <class T>
class exchange {
 public:
  using patches = collection<patch<T>, index3>;

  /// Collective; the arguments outlive the exchange.
  exchange(const plan& p, patches& all)
      : plan_(p),
        patches_(all),
        parcels_(all.template make_port<parcel<T>>("particles and currents")),
        halos_(all.template make_port<halo<T>>("fields")),
        charges_(all.template make_port<halo<T>>("charge and current")) {}

  /// Sends E and B to all neighbours.
  void send_halos(const char* name) {
    patches_.each(name, [this](patch<T>& self, auto& context) { send_halos(self, context); });
  }
  void send_halos(patch<T>& self, auto& context) {
    for (const auto& to : neighbours(plan_, context.index())) context.send(halos_, to.at, make_halo(self, to.shift));
  }
  /// Receives E and B of all neighbours, then calls then(patch).
  template <class Then>
  void receive_halos(const char* name, Then then) {
    patches_.each(name, halos_.of(neighbour_count()), [this, then](patch<T>& self, auto& context) {
      for (auto& [sender, message] : context.take(halos_)) receive(self, message);
      then(self);
    });
  }

  /// Sends the parcels that make(patch, shifts of its neighbours) returns to these neighbours.
  template <class Make>
  void send_parcels(const char* name, Make make) {
    patches_.each(name, [this, make](patch<T>& self, auto& context) {
      const auto all = neighbours(plan_, context.index());
      std::vector<point> shifts;
      for (const auto& to : all) shifts.push_back(to.shift);
      auto out = make(self, shifts);
      for (std::size_t i = 0; i < all.size(); ++i) context.send(parcels_, all[i].at, std::move(out[i]));
    });
  }
  /// Sends the parcel that make(patch) returns to the neighbour at lower x, if there is one.
  template <class Make>
  void send_parcels_down(const char* name, Make make) {
    patches_.each(name, [this, make](patch<T>& self, auto& context) {
      parcel<T> out = make(self);
      index3 below = context.index();
      if (below.x-- > 0) context.send(parcels_, below, std::move(out));
    });
  }
  /// Receives the parcels of all neighbours, then calls then(patch, context of the task).
  template <class Then>
  void receive_parcels(const char* name, Then then) {
    receive_parcels(name, neighbour_count(), then);
  }
  void receive_parcels(const char* name) {
    receive_parcels(name, [](patch<T>&, auto&) {});
  }
  /// Receives the parcel of the neighbour at higher x, if there is one, then calls then(patch, context of the task).
  template <class Then>
  void receive_parcels_from_above(const char* name, Then then) {
    receive_parcels(name, [this](const index3& at) { return std::size_t(at.x + 1 < plan_.patches[0]); }, then);
  }

  /// Sums the charge of all species and plates, or that of one species, and filters it.
  void sum_charge(const char* name, int only = -1) {
    patches_.each(name, [this, only](patch<T>& self, auto& context) {
      deposit_own_charge(plan_, self, only);
      for (const auto& to : neighbours(plan_, context.index()))
        context.send(charges_, to.at, make_charge_halo(self, to.shift));
    });
    patches_.each(name, charges_.of(neighbour_count()), [this](patch<T>& self, auto& context) {
      for (auto& [sender, message] : context.take(charges_)) receive_charge(self, message);
    });
    filter(name, source::charge);
  }
  /// Filters J or rho by the passes of the plan.
  void filter(const char* name, source which) {
    const int passes = plan_.filter_passes + (plan_.filter_passes > 0 && plan_.filter_compensation);
    for (int pass = 0; pass < passes; ++pass) {
      patches_.each(name, [this, which](patch<T>& self, auto& context) {
        for (const auto& to : neighbours(plan_, context.index()))
          context.send(charges_, to.at, make_source_halo(self, which, to.shift));
      });
      patches_.each(name, charges_.of(neighbour_count()), [this, which, pass](patch<T>& self, auto& context) {
        for (auto& [sender, message] : context.take(charges_)) receive_source(self, which, message);
        filter_source(plan_, self, which, pass);
      });
    }
  }

 private:
  /// Returns the function that counts the neighbours of a patch.
  auto neighbour_count() const {
    return [this](const index3& at) { return neighbours(plan_, at).size(); };
  }
  template <class Count, class Then>
  void receive_parcels(const char* name, Count count, Then then) {
    patches_.each(name, parcels_.of(count), [this, then](patch<T>& self, auto& context) {
      for (auto& [sender, message] : context.take(parcels_)) receive(plan_, self, std::move(message));
      then(self, context);
    });
  }

  const plan& plan_;
  patches& patches_;
  port<patch<T>, index3, parcel<T>> parcels_;
  port<patch<T>, index3, halo<T>> halos_, charges_;
};

}  // namespace plaq::pic
