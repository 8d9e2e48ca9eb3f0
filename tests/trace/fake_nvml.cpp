// An NVML of two GPUs that always say the same, to be loaded in place of NVIDIA's.
extern "C" {

struct utilisation {
  unsigned processors, memory;
};
struct memory_info {
  unsigned long long total, free, used;
};

static int running = 0;

int nvmlInit_v2() { return running = 1, 0; }
int nvmlShutdown() { return running = 0; }
int nvmlDeviceGetCount_v2(unsigned* n) { return running ? (*n = 2, 0) : 1; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) {
  static unsigned devices[2] = {0, 1};
  *device = &devices[i];
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, utilisation* u) { return *u = {75, 20}, 0; }
int nvmlDeviceGetMemoryInfo(void*, memory_info* m) { return *m = {1000, 600, 400}, 0; }
int nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
  if (*static_cast<unsigned*>(device) == 1) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *mw = 123500;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) { return *mhz = type == 2 ? 2619 : 1980, 0; }
}
