# doctest::doctest, the header of the C++ tests: `#include <doctest/doctest.h>`.

find_package(Python COMPONENTS Interpreter REQUIRED)
execute_process(
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/vendor/llama.cpp/fetch.py ${PROJECT_SOURCE_DIR}/vendor/doctest
  OUTPUT_VARIABLE doctest_source
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE fetch_result)
if(NOT fetch_result EQUAL 0)
  message(FATAL_ERROR "doctest could not be fetched; the message above says why.")
endif()
add_library(doctest INTERFACE)
add_library(doctest::doctest ALIAS doctest)
target_include_directories(doctest SYSTEM INTERFACE ${doctest_source})
