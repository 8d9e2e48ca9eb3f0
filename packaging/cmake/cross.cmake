# Toolchain of packaging/cross.sh: Debian's cross compiler for PLAQ_MACHINE (aarch64 or ppc64le), the libraries below
# PLAQ_SYSROOT, and QEMU to run what is built.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PLAQ_MACHINE PLAQ_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PLAQ_MACHINE})
string(REPLACE ppc64le powerpc64le triple ${PLAQ_MACHINE}-linux-gnu)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_SYSROOT ${PLAQ_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${PLAQ_MACHINE}-static;-L;${PLAQ_SYSROOT})
