# The C++ libraries for programs of others, without Python: `cmake --build build --target libraries`, then
# `cmake --install build --component libraries --prefix ...`, then find_package(plaq COMPONENTS ...) there.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(plaq_libraries base trace task batch comm collection fft)  # each stands on those before it
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/plaq)
add_custom_target(libraries)

# Lines run on every processor of the architecture, or on this one's best with PLAQ_NATIVE.
set_target_properties(plaq_fft_kernels-${plaq_baseline} PROPERTIES EXPORT_NAME fft_kernels)
set(plaq_fft_kernels plaq_fft_kernels-${plaq_baseline})
target_link_libraries(plaq_fft PUBLIC $<INSTALL_INTERFACE:${plaq_fft_kernels}>)

foreach(part ${plaq_libraries})
  add_dependencies(libraries plaq_${part} ${plaq_${part}_kernels})
  set_target_properties(plaq_${part} PROPERTIES EXPORT_NAME ${part})
  # An export for each: a program that asks for trace alone needs no Boost.
  install(TARGETS plaq_${part} ${plaq_${part}_kernels} EXPORT plaq-${part} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT plaq-${part} NAMESPACE plaq:: DESTINATION ${config} COMPONENT libraries)
  # Without those that only plaq's own sources include, for they need headers that plaq keeps from its users.
  install(DIRECTORY src/plaq/${part} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/plaq COMPONENT libraries
          FILES_MATCHING PATTERN "*.hpp"
          PATTERN "coroutine.hpp" EXCLUDE PATTERN "line_kernels.hpp" EXCLUDE PATTERN "otf2*.hpp" EXCLUDE
          PATTERN "foreign.hpp" EXCLUDE PATTERN "ompt.hpp" EXCLUDE)
endforeach()
add_dependencies(libraries plaq_listener)
install(TARGETS plaq_listener LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)

# For pkg-config, plaq-task and so on; a program that needs HPX's back end is built by CMake.
set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /${folder} /)
string(REGEX REPLACE "/$" "" up "${up}")
set(needed_by_base -pthread)
set(needed_by_trace -ldl)
set(needed_by_task -lboost_context)
set(needed_by_fft -l${plaq_fft_kernels})
set(requires)
foreach(part ${plaq_libraries})
  set(libs "-lplaq_${part} ${needed_by_${part}}")
  configure_file(packaging/cmake/plaq.pc.in plaq-${part}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/plaq-${part}.pc DESTINATION ${folder} COMPONENT libraries)
  string(PREPEND requires "plaq-${part} ")  # a linker that goes through archives once needs the users first
endforeach()

configure_file(packaging/cmake/plaqConfig.cmake.in plaqConfig.cmake @ONLY)
write_basic_package_version_file(plaqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/plaqConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/plaqConfigVersion.cmake
              packaging/cmake/FindRandom123.cmake
        DESTINATION ${config} COMPONENT libraries)
