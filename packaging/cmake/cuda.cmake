# CUDA for PLAQ_GPU=cuda: a compiler that is installed, else that of the wheels (`make gpu`). No GPU or driver is needed
# to compile, nor to run what is built: the runtime, which has to stay where it was, says that it finds none.
set(PLAQ_GPU_ARCHITECTURES 80 90 CACHE STRING "compute capabilities to compile for; later ones compile at first use")

file(GLOB cuda_wheels ${Python_SITELIB}/nvidia/cu*)
find_program(PLAQ_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin)
find_program(PLAQ_NVCC nvcc PATHS /usr/local/cuda ${cuda_wheels} PATH_SUFFIXES bin)
if(NOT PLAQ_NVCC)
  message(FATAL_ERROR "PLAQ_GPU is cuda, but no nvcc is found: install CUDA 12 or later or run `make gpu`, which takes "
                      "its compiler from wheels, or name it with -DPLAQ_NVCC=...")
endif()
execute_process(COMMAND ${PLAQ_NVCC} --version OUTPUT_VARIABLE cuda_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" cuda_version "${cuda_version}")
if(CMAKE_MATCH_1 LESS 12)
  message(FATAL_ERROR "${PLAQ_NVCC} is of CUDA ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}; C++20 needs CUDA 12 or later")
endif()
message(STATUS "CUDA: ${PLAQ_NVCC}, ${cuda_version}, for ${PLAQ_GPU_ARCHITECTURES}")

file(REAL_PATH ${PLAQ_NVCC} cuda_root)
cmake_path(GET cuda_root PARENT_PATH cuda_root)
cmake_path(GET cuda_root PARENT_PATH cuda_root)
find_path(PLAQ_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_root}/include REQUIRED)
# The shared one: threads' own variables of the static one do not fit into a module that Python loads. Wheels have it under
# its full name only.
file(GLOB cuda_runtimes ${cuda_root}/lib64/libcudart.so* ${cuda_root}/lib/libcudart.so*)
list(APPEND cuda_runtimes libcudart.so)
list(GET cuda_runtimes 0 cuda_runtime)
cmake_path(GET cuda_runtime FILENAME cuda_runtime)
find_library(PLAQ_CUDA_RUNTIME ${cuda_runtime} HINTS ${cuda_root}/lib64 ${cuda_root}/lib REQUIRED)
add_library(plaq_cuda INTERFACE)
target_include_directories(plaq_cuda SYSTEM INTERFACE ${PLAQ_CUDA_INCLUDE})
target_link_libraries(plaq_cuda INTERFACE ${PLAQ_CUDA_RUNTIME})

set(nvcc_options -std=c++20 -O3 --fmad=false --expt-relaxed-constexpr -Xcompiler=-fPIC,-Wall
    --Werror=cross-execution-space-call)
foreach(architecture ${PLAQ_GPU_ARCHITECTURES})
  list(APPEND nvcc_options -gencode=arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(GET PLAQ_GPU_ARCHITECTURES -1 architecture)
list(APPEND nvcc_options -gencode=arch=compute_${architecture},code=compute_${architecture})

# Compiles .cu files for devices, as sources of `target`. A rule for each, and not CMake's own language: that wants to
# link a program with folders which the wheels do not have.
function(plaq_kernels target)
  get_target_property(random123 Random123::Random123 INTERFACE_INCLUDE_DIRECTORIES)
  list(REMOVE_ITEM random123 ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  foreach(name ${ARGN})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(
      OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${name} for GPUs"
      COMMAND ${PLAQ_NVCC} ${nvcc_options} -ccbin ${CMAKE_CXX_COMPILER} -I${PROJECT_SOURCE_DIR}/src
              "$<$<BOOL:${random123}>:-isystem=${random123}>" -MD -MF ${object}.d -c ${source} -o ${object}
      VERBATIM COMMAND_EXPAND_LISTS)
    target_sources(${target} PRIVATE ${object})
  endforeach()
endfunction()
