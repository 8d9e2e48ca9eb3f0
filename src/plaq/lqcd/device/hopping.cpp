#include "plaq/lqcd/device/hopping.hpp"

#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/device/launch.hpp"

namespace plaq::lqcd::device {

namespace {

const wilson<double>& check_whole(const wilson<double>& M) {
  if (product(M.layout()->lattice().grid) != 1)
    throw input_error("a device computes on whole lattices: run on one rank");
  return M;
}

/// Links of an operator. A whole lattice has local coordinates.
hopping::link_function links_of(const wilson<double>& M) {
  return [&M](const coordinates& x, int mu) { return M.link(M.layout()->locate(x), mu); };
}

}  // namespace

hopping::hopping(workers& by, const coordinates& extents, const link_function& link,
                 const std::array<std::complex<double>, 4>& link_determinants, gpu::device where)
    : where_(where), extents_(extents), lattice_(extents, tile), determinants_(link_determinants) {
  using block = link_block<double>;
  std::vector<block> blocks(std::size_t(blocks_for(sites())));
  for (const int parity : {0, 1}) {
    by.parallel_for("copy links", blocks.size(), [&](std::size_t first, std::size_t end) {
      for (auto site = std::int64_t(first) * together; site < std::int64_t(end) * together && site < sites(); ++site)
        for (int mu = 0; mu < 4; ++mu) {
          const auto u = link(site_at(extents, parity, site), mu);
          for (int i = 0; i < 6; ++i)
            blocks[std::size_t(site / together)].at[mu][i][site % together] = {u[i].real(), u[i].imag()};
        }
    });
    in_double_[parity] = gpu::memory(where, blocks.size() * sizeof(block));
    in_double_[parity].put(0, blocks.data(), blocks.size() * sizeof(block));
  }
}

hopping::hopping(const wilson<double>& M, gpu::device where)
    : hopping(check_whole(M).ctx().workers, M.layout()->lattice().extents, links_of(M),
              phase_determinants<double>(M.parameters().theta, M.layout()->lattice().extents), where) {}

void hopping::set_tiles(const coordinates& most) {
  check(product(most) <= hop<double>::most_threads, "a tile has more sites than a block has threads");
  lattice_ = half_lattice(extents_, most);
}

template <class S>
std::array<gpu::memory, 2>& hopping::memory_of() {
  if constexpr (std::same_as<S, double>)
    return in_double_;
  else if constexpr (std::same_as<S, float>)
    return in_single_;
  else
    return in_half_;
}

template <class S>
const link_block<S>* hopping::links(int parity) {
  gpu::memory& memory = memory_of<S>()[parity];
  const auto get = [&] { return reinterpret_cast<link_block<S>*>(memory.data()); };
  if constexpr (!std::same_as<S, double>)
    if (memory.size() == 0) {
      memory = gpu::memory(where_, std::size_t(blocks_for(sites())) * sizeof(link_block<S>));
      launch(where_, convert_links<S>{{sites()}, get(), links<double>(parity)});
    }
  return get();
}

template <class S, class R>
hop<S, R> hopping::kernel(const half_field<R>& out, const half_field<S>& in, int parity, bool dagger) {
  using T = number_of<S>;
  hop<S, R> k{lattice_, parity, dagger, links<S>(parity), links<S>(1 - parity), {}, in.data(), out.data()};
  const double unit = is_fixed<S> ? 1.0 / fixed16_one : 1;
  for (int mu = 0; mu < 4; ++mu)
    k.determinants[mu] = {T(determinants_[mu].real() * unit), T(determinants_[mu].imag() * unit)};
  return k;
}

template hop<double> hopping::kernel(const half_field<double>&, const half_field<double>&, int, bool);
template hop<float> hopping::kernel(const half_field<float>&, const half_field<float>&, int, bool);
template hop<fixed16> hopping::kernel(const half_field<fixed16>&, const half_field<fixed16>&, int, bool);
template hop<fixed16, float> hopping::kernel(const half_field<float>&, const half_field<fixed16>&, int, bool);

}  // namespace plaq::lqcd::device
