# tandem for Python: the extension tandem._C beside links to the package's own files, in build/…/python, where PYTHONPATH finds them.
set(TANDEM_PYTHON AUTO CACHE STRING "Build tandem for Python: AUTO (where Python's headers are found), ON or OFF")
set(TANDEM_PYTHON_STATE "off (TANDEM_PYTHON=OFF)")
if(NOT TANDEM_PYTHON MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TANDEM_PYTHON is ${TANDEM_PYTHON}: it takes AUTO, ON or OFF")
elseif(TANDEM_PYTHON STREQUAL OFF)
  return()
elseif(TANDEM_PYTHON STREQUAL AUTO AND NOT PROJECT_IS_TOP_LEVEL)
  set(TANDEM_PYTHON_STATE "left out: tandem is a part of another project (TANDEM_PYTHON=ON builds it)")
  return()
elseif(TANDEM_SANITIZE MATCHES thread)
  set(TANDEM_PYTHON_STATE "left out: Python itself is not built for the thread sanitizer")
  return()
endif()
# The interpreter is not built for the address sanitizer either, so that is loaded before it, and the other one, which brings C++'s library: the
# first looks for its functions as it starts. Python keeps memory for good.
if(TANDEM_SANITIZE MATCHES address)
  foreach(sanitizer asan ubsan)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${sanitizer}.so OUTPUT_VARIABLE ${sanitizer}_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  endforeach()
  set(python_environment "LD_PRELOAD=${asan_library} ${ubsan_library}" ASAN_OPTIONS=detect_leaks=0)
endif()
# The system's Python, which Debian's numpy belongs to, unless -DPython3_EXECUTABLE names another.
if(NOT DEFINED Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
  if(TANDEM_PYTHON STREQUAL ON)
    message(FATAL_ERROR "TANDEM_PYTHON=ON, but no Python 3.11 or newer with its headers was found: apt-get install python3-dev")
  endif()
  set(TANDEM_PYTHON_STATE "left out: no Python 3.11 or newer with its headers was found (python3-dev)")
  return()
endif()

# The functions and methods that are written from the description of the C++ interface.
set(python_folder ${PROJECT_SOURCE_DIR}/python)
set(python_generated ${PROJECT_BINARY_DIR}/generated/python)
set(python_written ${python_generated}/registry.cpp)
foreach(shard RANGE 7)
  list(APPEND python_written ${python_generated}/functions_${shard}.cpp)
endforeach()
add_custom_command(OUTPUT ${python_generated}/written
  COMMAND ${Python3_EXECUTABLE} ${python_folder}/generate/bindings.py ${python_generated}
  COMMAND ${CMAKE_COMMAND} -E touch ${python_generated}/written
  BYPRODUCTS ${python_written}
  DEPENDS ${python_folder}/generate/bindings.py ${python_folder}/generate/words.py ${python_folder}/generate/api.json ${python_folder}/generate/names.toml
  COMMENT "Writing what binds the operations to Python")
add_custom_target(tandem_python_written DEPENDS ${python_generated}/written)

file(GLOB python_sources CONFIGURE_DEPENDS ${python_folder}/extension/*.cpp)
Python3_add_library(tandem_python MODULE WITH_SOABI ${python_sources} ${python_written})
add_dependencies(tandem_python tandem_python_written)
target_include_directories(tandem_python PRIVATE ${python_folder}/extension)
target_compile_definitions(tandem_python PRIVATE TD_LIBRARY)
target_link_libraries(tandem_python PRIVATE tandem tandem_flags)
target_compile_options(tandem_python PRIVATE -Wno-missing-field-initializers)  # of Python's own tables. Visible: headers hold variables, which are one with the library's
target_link_options(tandem_python PRIVATE $<$<CONFIG:Release>:-s>)
set_source_files_properties(${python_written} PROPERTIES GENERATED ON COMPILE_OPTIONS "-O1")  # their time is in what they call
set(python_package ${PROJECT_BINARY_DIR}/python/tandem)
set_target_properties(tandem_python PROPERTIES OUTPUT_NAME _C LIBRARY_OUTPUT_DIRECTORY ${python_package})

# Links, so that an edit of the package counts at once.
file(GLOB python_parts RELATIVE ${python_folder}/tandem CONFIGURE_DEPENDS LIST_DIRECTORIES true ${python_folder}/tandem/*)
list(REMOVE_ITEM python_parts __pycache__)
file(MAKE_DIRECTORY ${python_package})
foreach(part ${python_parts})
  file(CREATE_LINK ${python_folder}/tandem/${part} ${python_package}/${part} SYMBOLIC)
endforeach()
set(TANDEM_PYTHON_STATE "built for Python ${Python3_VERSION}")
