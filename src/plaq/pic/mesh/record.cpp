#include "plaq/pic/mesh/record.hpp"

#include <cmath>

#include "plaq/base/error.hpp"

namespace plaq::pic {

std::vector<std::string> record::names(const plan& p) {
  std::vector<std::string> out{"time"};
  const auto along = [&](const std::string& prefix) {
    for (int d = 0; d < 3; ++d) out.push_back(prefix + std::string(p.axis_name(d)));
  };
  const auto by_side = [&](const std::string& prefix) {
    for (int d = 0; d < 3; ++d)
      for (const char* side : {"low", "high"}) out.push_back(prefix + std::string(p.axis_name(d)) + side);
  };
  along("electric_");
  along("magnetic_");
  for (const species& k : p.species_list) {
    for (const char* quantity : {"number", "weight", "kinetic"}) out.push_back(k.name + "." + quantity);
    along(k.name + ".p");
    by_side(k.name + ".left_");
    by_side(k.name + ".left_weight_");
    for (const char* quantity : {"emitted", "emitted_weight", "absorbed", "absorbed_weight", "left_energy",
                                 "absorbed_energy", "emitted_energy"})
      out.push_back(k.name + "." + quantity);
  }
  out.push_back("gauss");
  for (const gas_scattering& g : p.scatterings)
    for (const gas_process& k : g.processes)
      for (const char* quantity : {".count_", ".count_weight_", ".count_energy_"})
        out.push_back(g.name + quantity + k.label);
  for (const field_ionisation& i : p.field_ionisations)
    for (const char* quantity : {".count", ".count_weight"}) out.push_back(i.name + quantity);
  for (const auto& r : p.reactions)
    for (const std::string& quantity : {std::string(".count"), std::string(".count_weight"),
                                        ".count_vanished_" + p.species_list[std::size_t(r.first)].name,
                                        ".count_vanished_" + p.species_list[std::size_t(r.second)].name})
      out.push_back(r.name + quantity);
  for (const auto& c : p.circuits)
    for (const char* quantity : {".potential", ".charge", ".current"}) out.push_back(c.name + quantity);
  for (const auto& r : p.resamplings)
    for (const char* quantity : {".count", ".count_lost"}) out.push_back(r.name + quantity);
  return out;
}

std::vector<double> record::merge(const plan& p, std::vector<double> a, const std::vector<double>& b) {
  if (a.empty()) return b;
  check(a.size() == b.size(), "patches have recorded different numbers of steps");
  const std::size_t n = length(p);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t column = i % n;
    if (column == time || column == gauss(p))
      a[i] = std::fmax(a[i], b[i]);  // which ignores NaN
    else
      a[i] += b[i];
  }
  return a;
}

}  // namespace plaq::pic
