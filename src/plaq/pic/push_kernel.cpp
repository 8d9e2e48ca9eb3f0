// Momenta, from t - dt/2 to t + dt/2. All three pushers begin with half of the electric field.
#include <cmath>

#include "plaq/pic/particle_kernel.hpp"

namespace plaq::pic::stages {

namespace {

/// Boris (1970): half of E, a rotation about B with tan(angle/2) = (q/m) |B| dt / (2 gamma), half of E.
template <class T>
struct boris {
  static void step(T h, T ex, T ey, T ez, T bx, T by, T bz, T& x, T& y, T& z) {
    x += h * ex, y += h * ey, z += h * ez;
    const T t = h / std::sqrt(1 + x * x + y * y + z * z);
    const T tx = t * bx, ty = t * by, tz = t * bz;
    const T s = 2 / (1 + tx * tx + ty * ty + tz * tz);
    const T px = x + (y * tz - z * ty), py = y + (z * tx - x * tz), pz = z + (x * ty - y * tx);
    x += s * (py * tz - pz * ty) + h * ex, y += s * (pz * tx - px * tz) + h * ey, z += s * (px * ty - py * tx) + h * ez;
  }
};

/// gamma of the momentum in the middle, where w is u after half of the kick and tau = q B dt / (2 m): eq. (11) of Vay,
/// Phys. Plasmas 15 (2008) 056701, and (20) of Higuera and Cary, Phys. Plasmas 24 (2017) 052104.
template <class T>
T middle_gamma(T gamma2, T tau2, T w_tau) {
  const T s = gamma2 - tau2;
  return std::sqrt(T(0.5) * (s + std::sqrt(s * s + 4 * (tau2 + w_tau * w_tau))));
}
/// (w + (w.t) t + w x t) / (1 + t^2)
template <class T>
void rotated(T wx, T wy, T wz, T tx, T ty, T tz, T& x, T& y, T& z) {
  const T s = 1 / (1 + tx * tx + ty * ty + tz * tz), wt = wx * tx + wy * ty + wz * tz;
  x = s * (wx + wt * tx + (wy * tz - wz * ty));
  y = s * (wy + wt * ty + (wz * tx - wx * tz));
  z = s * (wz + wt * tz + (wx * ty - wy * tx));
}

/// Vay (2008): E and v x B of the old velocity for half a step, then implicit; drifts of E x B are exact.
template <class T>
struct vay {
  static void step(T h, T ex, T ey, T ez, T bx, T by, T bz, T& x, T& y, T& z) {
    const T g = h / std::sqrt(1 + x * x + y * y + z * z);
    const T wx = x + 2 * h * ex + g * (y * bz - z * by), wy = y + 2 * h * ey + g * (z * bx - x * bz),
            wz = z + 2 * h * ez + g * (x * by - y * bx);
    const T tx = h * bx, ty = h * by, tz = h * bz;
    const T gamma = middle_gamma(1 + wx * wx + wy * wy + wz * wz, tx * tx + ty * ty + tz * tz, wx * tx + wy * ty + wz * tz);
    rotated(wx, wy, wz, tx / gamma, ty / gamma, tz / gamma, x, y, z);
  }
};

/// Higuera and Cary (2017): as Boris, with gamma of the momentum in the middle; keeps volumes and drifts.
template <class T>
struct higuera_cary {
  static void step(T h, T ex, T ey, T ez, T bx, T by, T bz, T& x, T& y, T& z) {
    const T wx = x + h * ex, wy = y + h * ey, wz = z + h * ez;
    const T tx = h * bx, ty = h * by, tz = h * bz;
    const T gamma = middle_gamma(1 + wx * wx + wy * wy + wz * wz, tx * tx + ty * ty + tz * tz, wx * tx + wy * ty + wz * tz);
    T mx, my, mz;
    rotated(wx, wy, wz, tx / gamma, ty / gamma, tz / gamma, mx, my, mz);
    x = 2 * mx - wx + h * ex, y = 2 * my - wy + h * ey, z = 2 * mz - wz + h * ez;
  }
};

template <class By, class T>
void push_by(T h, const felt<T>& at, T* __restrict ux, T* __restrict uy, T* __restrict uz, int n, T* __restrict inverse_gamma) {
  for (int l = 0; l < n; ++l) {
    T x = ux[l], y = uy[l], z = uz[l];
    By::step(h, at.e[0][l], at.e[1][l], at.e[2][l], at.b[0][l], at.b[1][l], at.b[2][l], x, y, z);
    ux[l] = x, uy[l] = y, uz[l] = z;
    inverse_gamma[l] = 1 / std::sqrt(1 + x * x + y * y + z * z);
  }
}

}  // namespace

template <class T>
void push(pusher by, T q, T dt, const felt<T>& at, T* ux, T* uy, T* uz, int n, T* inverse_gamma) {
  const T h = T(0.5) * q * dt;
  switch (by) {
    case pusher::boris: return push_by<boris<T>>(h, at, ux, uy, uz, n, inverse_gamma);
    case pusher::vay: return push_by<vay<T>>(h, at, ux, uy, uz, n, inverse_gamma);
    case pusher::higuera_cary: return push_by<higuera_cary<T>>(h, at, ux, uy, uz, n, inverse_gamma);
  }
}

template void push(pusher, float, float, const felt<float>&, float*, float*, float*, int, float*);
template void push(pusher, double, double, const felt<double>&, double*, double*, double*, int, double*);

}  // namespace plaq::pic::stages
