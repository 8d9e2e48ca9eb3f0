// An NVML of two GPUs that always say the same, to be loaded in place of NVIDIA's.
#include <cstring>

extern "C" {

struct utilisation {
  unsigned processors, memory;
};
struct memory_info {
  unsigned long long total, free, used;
};

static int running = 0;
/// How many GPUs there are, and the function that fails.
unsigned fake_nvml_gpus = 2;
const char* fake_nvml_fails = "";

static bool fails(const char* what) { return std::strcmp(what, fake_nvml_fails) == 0; }

int nvmlInit_v2() { return fails("init") ? 9 : (++running, 0); }
int nvmlShutdown() { return --running, 0; }
int fake_nvml_running() { return running; }
int nvmlDeviceGetCount_v2(unsigned* n) { return running && !fails("count") ? (*n = fake_nvml_gpus, 0) : 1; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
  if (fails("handle") && i == 0) return 4;
  static unsigned devices[2] = {0, 1};
  *device = &devices[i];
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, utilisation* u) { return fails("utilisation") ? 3 : (*u = {75, 20}, 0); }
int nvmlDeviceGetMemoryInfo(void*, memory_info* m) { return *m = {1000, 600, 400}, 0; }
int nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
  if (*static_cast<unsigned*>(device) == 1) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *mw = 123500;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) { return *mhz = type == 2 ? 2619 : 1980, 0; }
}
