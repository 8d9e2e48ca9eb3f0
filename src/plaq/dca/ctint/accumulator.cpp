#include "plaq/dca/ctint/accumulator.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/phase_sums.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca::ctint {

bin_layout layout_of(const interacting_cluster& model, const measurement_list& measured) {
  bin_layout out;
  const auto add = [&out](const char* name, std::vector<axis> axes, bool complex = false) {
    out.push_back({name, std::move(axes), complex, total_size(out)});
  };
  const axis species{"species", model.g0.size()}, block{"block", model.species.size()};
  const axis R{"R", std::size_t(model.cells)}, a{"a", std::size_t(model.orbitals)}, b{"b", a.size};
  for (const char* name : {"sign", "order", "weight"}) add(name, {});
  add("single_particle", {species, R, a, b, {"w", measured.odd_frequencies.size()}}, true);
  add("equal_time", {species, R, a, b});
  for (const char* name : {"pairs", "static_pairs"}) add(name, {block, {"block'", block.size}, R, a, b});
  add("vertices", {{"type", model.types.size()}});
  add("histogram", {{"k", std::size_t(measured.histogram_size)}});
  const axis K{"K", R.size}, n{"n", std::size_t(2 * measured.two_particle.window)};
  for (std::size_t i = 0; i < measured.two_particle.requests.size(); ++i)
    add(("channel_" + std::to_string(i)).c_str(),
        {{"spins", two_particle::parts(measured.two_particle.requests[i])},
         K,
         a,
         b,
         {"K'", K.size},
         {"c", a.size},
         {"d", a.size},
         n,
         {"n'", n.size}},
        true);
  return out;
}

accumulator::accumulator(const interacting_cluster& model, const measurement_list& measured, const chain_rules& rules,
                         std::uint32_t chain)
    : model_(model),
      measured_(measured),
      rules_(rules),
      chain_(chain),
      layout_(layout_of(model, measured)),
      difference_(model.g0.at(0)->difference()),
      blocks_of_species_(model.g0.size()),
      green_(model),
      single_particle_(model.g0.size()) {
  for (const int n : measured.odd_frequencies)
    check(n > 0 && n % 2 == 1, "ctint: frequencies are positive odd numbers");
  for (const int s : model.species) ++blocks_of_species_[std::size_t(s)];
  if (!measured.two_particle.requests.empty())
    two_particle_ = std::make_unique<two_particle>(model, measured.two_particle);
}

void accumulator::begin_bin(std::uint64_t bin) {
  times_ = streams::of(rules_, streams::measurement_times, chain_, bin);
  result_.sums.assign(total_size(layout_), 0.);
  result_.series.clear();
  const std::size_t each = array_named(layout_, "single_particle").size() / single_particle_.size();
  for (auto& sum : single_particle_) sum.assign(each, 0.);
  if (two_particle_) two_particle_->begin_bin();
}

void accumulator::accumulate(const sample& s) {
  *sums("sign") += s.sign;
  *sums("order") += s.sign * s.order;
  *sums("weight") += s.sign;
  sums("histogram")[std::min(s.order, measured_.histogram_size - 1)] += 1;
  {
    trace::region scope("measure M");
    measure_single_particle(s);
  }
  if (two_particle_) {
    trace::region scope("measure G4");
    two_particle_->accumulate(s);
  }
  trace::region scope("measure correlations");
  green_.evaluate(s, random_words(times_, s.index));
  const record values = measure_correlations(s);
  if (result_.series.size() < series_limit) result_.series.push_back(values);
}

void accumulator::measure_single_particle(const sample& s) {
  for (int block = 0; block < model_.blocks(); ++block) {
    const block_sample& vertices = s.blocks[std::size_t(block)];
    if (vertices.size() == 0) continue;
    compute_phases(vertices.create.tau, model_.beta, measured_.odd_frequencies, create_phase_);
    const bool equal = vertices.annihilate.tau == vertices.create.tau;  // all legs are densities
    if (!equal) compute_phases(vertices.annihilate.tau, model_.beta, measured_.odd_frequencies, annihilate_phase_);
    transformed_.reshape(vertices.size(), create_phase_.columns());
    const phased_operators rows{vertices.create.first, create_phase_};
    const phased_operators columns{vertices.annihilate.first, equal ? create_phase_ : annihilate_phase_};
    const std::size_t species = std::size_t(model_.species[std::size_t(block)]);
    const double weight = s.sign / blocks_of_species_[species];
    for (int x = 0; x < model_.flavours(); ++x)
      if (columns.first[std::size_t(x)] < columns.first[std::size_t(x) + 1])
        add_phased_columns(model_.flavours(), x, rows, columns, vertices.m, weight, difference_, transformed_,
                           single_particle_[species]);
  }
}

record accumulator::measure_correlations(const sample& s) {
  constexpr int times = green_at_times::times;
  const int flavours = model_.flavours(), blocks = model_.blocks(), cells = model_.cells;
  const std::size_t differences = std::size_t(cells) * std::size_t(model_.orbitals * model_.orbitals);
  const double each = s.sign / (times * cells), each_pair = each * model_.beta / (times - 1);

  double* equal_time = sums("equal_time");
  for (int block = 0; block < blocks; ++block) {
    const std::size_t species = std::size_t(model_.species[std::size_t(block)]);
    for (int a = 0; a < times; ++a)
      for (int x = 0; x < flavours; ++x)
        for (int y = 0; y < flavours; ++y)
          equal_time[species * differences + std::size_t(difference_[std::size_t(x * flavours + y)])] +=
              each / blocks_of_species_[species] * green_(block, x, a, y, a);
  }

  double *pairs = sums("pairs"), *static_pairs = sums("static_pairs");
  double square = 0, transverse = 0;  // <N^2> and <(N_0 - N_1)^2> of this configuration, with its sign
  const std::size_t all = std::size_t(flavours) * std::size_t(flavours);
  for (int block = 0; block < blocks; ++block)
    for (int other = 0; other < blocks; ++other) {
      equal_products_.assign(all, 0.);
      static_products_.assign(all, 0.);
      for (int a = 0; a < times; ++a)
        for (int b = 0; b < times; ++b)
          for (int x = 0; x < flavours; ++x)
            green_.add_density_products(block, x, a, other, b,
                                        &(a == b ? equal_products_ : static_products_)[std::size_t(x * flavours)]);
      const std::size_t offset = std::size_t(block * blocks + other) * differences;
      double sum = 0;
      for (std::size_t i = 0; i < all; ++i) {
        const std::size_t at = offset + std::size_t(difference_[i]);
        pairs[at] += each * equal_products_[i];
        static_pairs[at] += each_pair * static_products_[i];
        sum += each * equal_products_[i];
      }
      square += sum;
      transverse += block == other ? sum : -sum;
    }

  double* vertices = sums("vertices");
  for (std::size_t t = 0; t < model_.types.size(); ++t)
    for (int a = 0; a < times; ++a)
      for (int cell = 0; cell < cells; ++cell) vertices[t] += each * green_.vertex_product(model_.types[t], cell, a);

  double density = 0, double_occupancy = 0;
  for (int a = 0; a < times; ++a)
    for (int x = 0; x < flavours; ++x) {
      for (int block = 0; block < blocks; ++block) density += each * green_.occupation(block, x, a);
      if (blocks > 1) double_occupancy += each * green_.occupation(0, x, a) * green_.occupation(1, x, a);
    }
  return {float(s.sign), float(s.order), float(density), float(double_occupancy), float(transverse / 4), float(square)};
}

bin_result accumulator::end_bin() {
  double* to = sums("single_particle");
  for (const auto& sum : single_particle_) to = std::ranges::copy(sum, to).out;
  for (std::size_t i = 0; i < measured_.two_particle.requests.size(); ++i)
    std::ranges::copy(two_particle_->sums(i), sums(("channel_" + std::to_string(i)).c_str()));
  check_finite(result_, chain_);
  return std::move(result_);
}

}  // namespace plaq::dca::ctint
