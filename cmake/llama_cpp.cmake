# Brings llama.cpp in as static libraries: llama, ggml, llama-common, mtmd.
#
# The source is a checkout named by LLAMAINT_LLAMA_CPP_DIR, or the pinned release that
# vendor/llama.cpp/fetch.py unpacks into vendor/llama.cpp/src.

set(LLAMAINT_LLAMA_CPP_DIR "$ENV{LLAMAINT_LLAMA_CPP_DIR}" CACHE PATH "llama.cpp checkout to build instead of the pin")
if(LLAMAINT_LLAMA_CPP_DIR)
  set(llama_cpp_source ${LLAMAINT_LLAMA_CPP_DIR})
else()
  find_package(Python COMPONENTS Interpreter REQUIRED)
  execute_process(
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/vendor/llama.cpp/fetch.py
    OUTPUT_VARIABLE llama_cpp_source
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE fetch_result)
  if(NOT fetch_result EQUAL 0)
    message(FATAL_ERROR "llama.cpp could not be fetched; the message above says why.")
  endif()
endif()
if(NOT EXISTS ${llama_cpp_source}/include/llama.h)
  message(FATAL_ERROR "${llama_cpp_source} is not a llama.cpp source tree (include/llama.h is missing).")
endif()
message(STATUS "llama.cpp: ${llama_cpp_source}")

set(BUILD_SHARED_LIBS OFF)
# ggml's own thread pool: as fast as OpenMP on an idle machine, no libgomp beside torch's or
# numpy's in one process, and its pool can be resized while decoding (docs/dev/threads.md).
set(GGML_OPENMP OFF CACHE BOOL "ggml: use OpenMP")
set(GGML_CCACHE OFF CACHE BOOL "ggml: use ccache (set by llamaint itself)")
set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_MTMD ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_TOOLS ${LLAMAINT_BUILD_TOOLS} CACHE BOOL "" FORCE)
set(LLAMA_BUILD_SERVER ${LLAMAINT_BUILD_TOOLS} CACHE BOOL "" FORCE)
set(LLAMA_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_APP OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_UI OFF CACHE BOOL "" FORCE)
set(LLAMA_USE_PREBUILT_UI OFF CACHE BOOL "" FORCE)
set(LLAMA_OPENSSL OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_IS_DEV OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_NUMBER 0)
set(LLAMA_BUILD_COMMIT "pinned")
if(NOT LLAMAINT_LLAMA_CPP_DIR)
  # ggml would ask git for a commit and get the one of llamaint.
  set(GIT_EXE "" CACHE INTERNAL "")
endif()

add_subdirectory(${llama_cpp_source} ${CMAKE_BINARY_DIR}/llama.cpp EXCLUDE_FROM_ALL)

# Where the linker happens to put a hot loop otherwise changes the speed of a whole program by some percent.
if(TARGET ggml-cpu AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(ggml-cpu PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-falign-functions=64;-falign-loops=64>")
endif()
