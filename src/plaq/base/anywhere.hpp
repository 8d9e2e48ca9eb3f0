// Specifiers of functions that may also run on a GPU: one source for g++ and for the compilers of GPUs.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PLAQ_ANYWHERE __host__ __device__  ///< on the host and on the device
#define PLAQ_BY_TEAM __device__  ///< by a team: on the device, or on a host team where this is compiled for it
#else
#define PLAQ_ANYWHERE
#define PLAQ_BY_TEAM
#endif
