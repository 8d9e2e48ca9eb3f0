#include "plaq/lqcd/hopping.hpp"

#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

template <class T>
hopping<T>::hopping(engine& by, links<T> gauge) : by_(by), gauge_(std::move(gauge)) {
  const layout& where = gauge_.where();
  check(product(where.on().grid) == by.messages.size() && where.on().rank == by.messages.rank(),
        "a lattice's ranks are not those of its messages");
  for (int d = 0; d < neighbours; ++d) {
    if (!where.is_cut(d / 2)) continue;
    const auto size = std::size_t(where.face_size(d / 2)) * 12;
    faces_[d].ready.resize(size * where.lanes());
    faces_[d].send.resize(size * where.lanes_at_edge(d).size());
    faces_[d].came.resize(faces_[d].send.size());
  }
}

template <class T>
void hopping<T>::operator()(spinors<T>& out, const spinors<T>& in, int parity, const hop_options<T>& how) {
  const layout& where = gauge_.where();
  check(out.has(parity) && in.has(1 - parity) && (!how.phi || how.phi->has(parity)),
        "the hopping matrix leads from one parity to the other");
  hop_work<T> work{&where,
                   parity,
                   {gauge_.of(0), gauge_.of(1)},
                   in.of(1 - parity),
                   out.of(parity),
                   how.dagger,
                   how.c,
                   how.phi ? how.phi->of(parity) : nullptr,
                   how.d,
                   {}};
  for (int d = 0; d < neighbours; ++d) work.faces[d] = faces_[d].ready.data();
  const auto hop_all = [&](const std::vector<std::int32_t>& blocks) {
    by_.hands.each("hop", blocks.size(), [&](std::size_t begin, std::size_t end) {
      hop(work, std::span(blocks).subspan(begin, end - begin));
    });
  };

  // Who is ahead sends what blocks ahead would have been, and the other way about.
  std::array<task::future<comm::status>, neighbours> coming;
  std::vector<task::future<comm::status>> going;
  const auto peer = [&](int d, bool there) {
    return where.on().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1);
  };
  for (int d = 0; d < neighbours; ++d)
    if (where.is_cut(d / 2)) coming[d] = by_.messages.irecv(std::span(faces_[d].came), peer(d, true), d);
  for (int d = 0; d < neighbours; ++d) {
    if (!where.is_cut(d / 2)) continue;
    by_.hands.each("pack", std::size_t(where.face_size(d / 2)), [&](std::size_t begin, std::size_t end) {
      pack_face(work, d, begin, end, faces_[d].send.data());
    });
    going.push_back(by_.messages.isend(std::span(faces_[d].send), peer(d, false), d));
  }
  hop_all(where.inside(parity));
  for (int d = 0; d < neighbours; ++d) {
    if (!where.is_cut(d / 2)) continue;
    coming[d].get();
    unpack_face(work, d, 0, std::size_t(where.face_size(d / 2)), faces_[d].came.data());
  }
  hop_all(where.outside(parity));
  for (auto& g : going) g.get();
}

template class hopping<double>;
template class hopping<float>;

}  // namespace plaq::lqcd
