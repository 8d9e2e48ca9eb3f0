#include "plaq/lqcd/dirac/hopping.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/copy.hpp"

namespace plaq::lqcd {

namespace {

/// Gathers the links to the neighbours of each site. Links of another rank are replaced by others: that rank multiplies
/// with them.
template <class T>
near_links<T> gather_links(context& ctx, const links<T>& gauge) {
  const site_layout& layout = gauge.layout();
  near_links<T> near(gauge.shared_layout());
  ctx.workers.parallel_for("gather links", std::size_t(layout.groups()), [&](std::size_t begin, std::size_t end) {
    for (auto b = std::int64_t(begin); b < std::int64_t(end); ++b)
      for (int d = 0; d < neighbours; ++d) {
        const int n = layout.lanes();
        const bool cut = layout.edges(b) >> (8 + d) & 1;
        const auto behind =
            cut ? layout.face(b >= layout.half(), d)[layout.neighbours_of(b)[d]] : layout.neighbours_of(b)[d];
        const T* from = gauge.group(d % 2 ? behind : b) + d / 2 * 18 * n;
        T* to = near.group(b) + d * 12 * n;
        const bool moves = d % 2 && layout.edges(b) >> d & 1;
        for (int i = 0; i < 12; ++i)
          for (int l = 0; l < n; ++l) to[i * n + l] = from[i * n + (moves ? layout.lane_from(d)[l] : l)];
      }
  });
  return near;
}

/// Checks third rows to about half the digits.
template <class T>
void check_unitary(const links<T>& gauge, const std::array<std::complex<T>, 4>& link_determinants) {
  for_each_site(gauge.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu)
      for (int j = 0; j < 3; ++j) {
        const auto u = [&](int i, int k) { return gauge.get(p, 9 * mu + 3 * i + (j + k) % 3); };
        const auto third = link_determinants[mu] * std::conj(u(0, 1) * u(1, 2) - u(0, 2) * u(1, 1));
        if (!(std::abs(third - u(2, 0)) < 1e-4))
          throw input_error("the link at site " + to_string(x) + " in direction " + std::to_string(mu) +
                            " is not in SU(3): the Wilson operator needs links in SU(3)");
      }
  });
}

}  // namespace

template <class T, class S>
hopping<T, S>::hopping(context& ctx, const links<T>& gauge, const std::array<std::complex<T>, 4>& link_determinants)
  requires std::same_as<T, S>
    : ctx_(ctx), links_(gather_links(ctx, gauge)), link_determinants_(link_determinants) {
  check_unitary(gauge, link_determinants_);
  prepare();
}

template <class T, class S>
hopping<T, S>::hopping(const hopping<double>& other, std::shared_ptr<const site_layout> layout)
    : ctx_(other.ctx_), links_(std::move(layout)) {
  for (int mu = 0; mu < 4; ++mu) link_determinants_[mu] = std::complex<T>(other.link_determinants_[mu]);
  copy(other.links_, links_, [](double x) {
    if constexpr (std::same_as<S, fixed16>)
      return to_fixed16(x);
    else
      return S(x);
  });
  prepare();
}

template <class T, class S>
void hopping<T, S>::prepare() {
  const site_layout& layout = links_.layout();
  // Bytes of near_links and of two fields on half the sites. A core's own caches hold 1 or 2 MiB, shared ones 16 to 64.
  const auto bytes = links_.size() * sizeof(S) + std::size_t(layout.groups()) * 24 * layout.lanes() * sizeof(T);
  prefetch_ = bytes > (std::size_t(8) << 20), stream_ = bytes > (std::size_t(64) << 20);
  check(product(layout.lattice().grid) == ctx_.messages.size() && layout.lattice().rank == ctx_.messages.rank(),
        "a lattice needs the ranks of its messages");
  for (int d = 0; d < neighbours; ++d) {
    if (!layout.is_cut(d / 2)) continue;
    const auto size = std::size_t(layout.face_size(d / 2)) * 12;
    faces_[d].halo.resize(size * layout.lanes());
    faces_[d].send_buffer.resize(size * layout.lanes_at_edge(d).size());
    faces_[d].receive_buffer.resize(faces_[d].send_buffer.size());
  }
  // A core that has its data near computes: it then reads third rows in less time than it takes to compute them.
  if constexpr (std::same_as<S, T>) {
    if (prefetch_ || layout.lanes() != max_lanes<T>()) return;
    const hopping_args<T> w{&layout, 0, links_.data(), link_determinants_, nullptr, nullptr};
    T* const out = third_rows_.emplace(links_.shared_layout()).data();
    ctx_.workers.parallel_for("third rows", std::size_t(layout.groups()), [&](std::size_t begin, std::size_t end) {
      compute_third_rows(w, std::int64_t(begin), std::int64_t(end), out);
    });
  }
}

template <class T, class S>
hopping_args<T, S> hopping<T, S>::kernel_args(const spinors<T>& in, int parity, bool dagger) {
  hopping_args<T, S> w{&links_.layout(), parity, links_.data(), link_determinants_, in.of(1 - parity), nullptr, dagger};
  w.prefetch = prefetch_, w.stream = stream_;
  if (third_rows_) w.third_rows = third_rows_->data();
  for (int d = 0; d < neighbours; ++d) w.faces[d] = faces_[d].halo.data();
  return w;
}

template <class T, class S>
template <class F>
void hopping<T, S>::exchange(const hopping_args<T, S>& args, int step, F&& meanwhile) {
  const site_layout& layout = links_.layout();
  // The forward neighbour sends the half spinors that our boundary groups read, and vice versa.
  std::array<task::future<comm::status>, neighbours> receives;
  std::vector<task::future<comm::status>> sends;
  const auto peer = [&](int d, bool ahead) {
    return layout.lattice().neighbour_rank(d / 2, (d % 2 == 0) == ahead ? 1 : -1);
  };
  for (int d = 0; d < neighbours; d += step)
    if (layout.is_cut(d / 2)) receives[d] = ctx_.messages.irecv(std::span(faces_[d].receive_buffer), peer(d, true), d);
  for (int d = 0; d < neighbours; d += step) {
    if (!layout.is_cut(d / 2)) continue;
    ctx_.workers.parallel_for("pack", std::size_t(layout.face_size(d / 2)), [&](std::size_t begin, std::size_t end) {
      pack_face(args, d, begin, end, faces_[d].send_buffer.data());
    });
    sends.push_back(ctx_.messages.isend(std::span(faces_[d].send_buffer), peer(d, false), d));
  }
  meanwhile();
  for (int d = 0; d < neighbours; d += step) {
    if (!layout.is_cut(d / 2)) continue;
    receives[d].get();
    unpack_face(args, d, 0, std::size_t(layout.face_size(d / 2)), faces_[d].receive_buffer.data());
  }
  for (auto& g : sends) g.get();
}

template <class T, class S>
void hopping<T, S>::operator()(spinors<T>& out, const spinors<T>& in, int parity, const hopping_options<T>& options) {
  const site_layout& layout = links_.layout();
  check(out.has(parity) && in.has(1 - parity) && (!options.phi || options.phi->has(parity)),
        "the hopping matrix maps one parity to the other");
  auto w = kernel_args(in, parity, options.dagger);
  w.out = out.of(parity), w.c = options.c, w.d = options.d;
  if (options.phi) w.phi = options.phi->of(parity);
  const auto hop_all = [&](const std::vector<std::int32_t>& groups) {
    ctx_.workers.parallel_for("hop", groups.size(), [&](std::size_t begin, std::size_t end) {
      hop(w, std::span(groups).subspan(begin, end - begin));
    });
  };
  exchange(w, 1, [&] { hop_all(layout.interior(parity)); });
  hop_all(layout.boundary(parity));
}

template <class T, class S>
void hopping<T, S>::derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y)
  requires std::same_as<T, S>
{
  const site_layout& layout = links_.layout();
  check(X.subset() == sites::all && Y.same_sites(X), "a derivative needs fields on all sites");
  std::fill_n(m.data(), m.size(), T(0));
  for (const int p : {0, 1})
    for (const bool dagger : {false, true}) {
      derivative_args<T> w{kernel_args(dagger ? Y : X, p, dagger), (dagger ? X : Y).of(p), m.of(p)};
      exchange(w.hopping, 2, [] {});
      ctx_.workers.parallel_for("derivative", std::size_t(layout.half()), [&](std::size_t begin, std::size_t end) {
        lqcd::derivative(w, p * layout.half() + std::int64_t(begin), p * layout.half() + std::int64_t(end));
      });
    }
}

template <class T, class S>
std::array<std::complex<T>, 9> hopping<T, S>::link(site_layout::location at, int mu) const
  requires std::same_as<T, S>
{
  std::array<std::complex<T>, 9> u;
  for (int i = 0; i < 6; ++i) u[i] = links_.get(at, 12 * mu + i);
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    u[6 + j] = link_determinants_[mu] * std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
  }
  return u;
}

template class hopping<double>;
template class hopping<float>;
template class hopping<float, fixed16>;

}  // namespace plaq::lqcd
