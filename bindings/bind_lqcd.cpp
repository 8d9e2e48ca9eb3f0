#include <nanobind/nanobind.h>

namespace plaq::bindings {

void bind_lqcd_layout(nanobind::module_& m);
void bind_lqcd_fields(nanobind::module_& m);
void bind_lqcd_gauge(nanobind::module_& m);
void bind_lqcd_quarks(nanobind::module_& m);
void bind_lqcd_momenta(nanobind::module_& m);
void bind_lqcd_wilson(nanobind::module_& m);
void bind_lqcd_doublet(nanobind::module_& m);
void bind_lqcd_solvers(nanobind::module_& m);

}  // namespace plaq::bindings

void bind_lqcd(nanobind::module_& m) {
  using namespace plaq::bindings;
  bind_lqcd_layout(m);
  bind_lqcd_fields(m);
  bind_lqcd_gauge(m);
  bind_lqcd_quarks(m);
  bind_lqcd_momenta(m);
  bind_lqcd_wilson(m);
  bind_lqcd_doublet(m);
  bind_lqcd_solvers(m);
}
