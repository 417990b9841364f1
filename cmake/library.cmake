# libtandem.so: every room except distributions/, libtorch/, tools/, and the folders of plug-ins, cuda/ and mpi/.
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER library_sources EXCLUDE REGEX "^src/(distributions|libtorch|tools)/|/cuda/|/mpi/|^src/kernels/cpu/(isa|amx)/")
list(TRANSFORM library_sources PREPEND ${PROJECT_SOURCE_DIR}/)
list(SORT library_sources)
# What reads and writes files, tells, talks to other processes and puts models together is compiled for size, and so is what a program does once:
# its time is in what it calls. It is linked last: of an inline function that other sources emit, too, the linker keeps the first.
set(cold "/src/(comm|exported|io|models|observe|onnx|parallel|process|train)/|/src/(compile/(trace|gradient_plan)|data/(idx|image_folder|image_grid)")
string(APPEND cold "|nn/(adaptive_softmax|checkpoint|containers|init|module_ref|parameter_containers|pooling|print|repr|settings|state|summary|transfer|utils)"
  "|ops/fractional_pooling|optim/schedule|runtime/memory_text|tensor/print)[.]cpp")
set(cold_sources ${library_sources})
list(FILTER cold_sources INCLUDE REGEX "${cold}")
list(FILTER library_sources EXCLUDE REGEX "${cold}")
list(APPEND library_sources ${cold_sources})
# With a header that is compiled beforehand all sources need the same options.
if(NOT TANDEM_QUICK)
  set_source_files_properties(${cold_sources} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
endif()
if(NOT library_sources)
  message(FATAL_ERROR "no sources under ${PROJECT_SOURCE_DIR}/src")
endif()

# What the library's own sources share, whatever instruction set they are compiled for.
add_library(tandem_internal INTERFACE)
target_compile_options(tandem_internal INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -ffunction-sections -fdata-sections -fvisibility-inlines-hidden
  -fno-semantic-interposition   # calls between our own functions may be inlined and need no table
  -ftls-model=initial-exec>)    # thread-local state is read at each call: a plain load instead of __tls_get_addr
target_compile_definitions(tandem_internal INTERFACE TD_LIBRARY)  # its own lines are no lines of the user's
target_link_libraries(tandem_internal INTERFACE tandem_flags Threads::Threads)

add_library(tandem SHARED ${library_sources})
add_library(tandem::tandem ALIAS tandem)
# A program finds the versions that it may run with by the library's name: before 1.0 those of its minor version, as tandemConfigVersion.cmake says.
set_target_properties(tandem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(tandem PUBLIC cxx_std_20)
target_include_directories(tandem INTERFACE "$<BUILD_INTERFACE:${tandem_public_headers}>" $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(tandem SYSTEM PRIVATE
  ${TANDEM_DNNL_INCLUDE} ${TANDEM_ZLIB_INCLUDE} ${TANDEM_PNG_INCLUDE} ${TANDEM_JPEG_INCLUDE})
target_compile_definitions(tandem PRIVATE TANDEM_OPENBLAS_FILE="${TANDEM_OPENBLAS_FILE}")
target_link_libraries(tandem PUBLIC Threads::Threads
  PRIVATE $<BUILD_INTERFACE:tandem_internal> $<BUILD_INTERFACE:$<$<CONFIG:Release>:tandem_own_paths>> ${TANDEM_DNNL_LIBRARY} ${TANDEM_ZLIB_LIBRARY}
  ${TANDEM_PNG_LIBRARY} ${TANDEM_JPEG_LIBRARY} ${CMAKE_DL_LIBS})
target_link_options(tandem PRIVATE -Wl,--gc-sections -Wl,-O1 -Wl,--as-needed -Wl,-Bsymbolic-functions
  $<$<NOT:$<CONFIG:Sanitize>>:-Wl,-z,defs> $<$<CONFIG:Release>:-s>)

# Kernels compiled once per instruction set; TD_ISA names the set and the namespace. Objects are linked from the lowest set
# up, after everything else: of an inline function that several of them emit, the linker keeps the first, which any
# processor can run.
file(GLOB isa_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/cpu/isa/*.cpp)
set(isa_flags_baseline "")
set(isas baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(isas baseline avx2 avx512)
  set(isa_flags_baseline -march=x86-64-v2)
  set(isa_flags_avx2 -march=x86-64-v3)
  set(isa_flags_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
endif()
set(TANDEM_ISAS "${isas}" CACHE STRING "Instruction sets that the kernels are compiled for, from the lowest up; the library runs where the lowest does")
string(REPLACE ";" "|" wanted_isas "${TANDEM_ISAS}")
set(ascending ${isas})
list(FILTER ascending INCLUDE REGEX "^(${wanted_isas})$")
if(NOT TANDEM_ISAS OR NOT TANDEM_ISAS STREQUAL ascending)
  list(JOIN isas ", " isas)
  message(FATAL_ERROR "TANDEM_ISAS is ${TANDEM_ISAS}: it takes one or more of the sets for ${CMAKE_SYSTEM_PROCESSOR}, in this order: ${isas}")
endif()
list(TRANSFORM TANDEM_ISAS REPLACE "(.+)" "X(\\1)" OUTPUT_VARIABLE each_isa)
list(JOIN each_isa " " each_isa)
set_source_files_properties(src/kernels/cpu/instruction_set.cpp PROPERTIES COMPILE_OPTIONS "-DTD_FOR_EACH_ISA(X)=${each_isa}")
if(isa_sources)
  foreach(isa ${TANDEM_ISAS})
    add_library(tandem_isa_${isa} OBJECT ${isa_sources})
    target_compile_definitions(tandem_isa_${isa} PRIVATE TD_ISA=${isa})
    target_compile_options(tandem_isa_${isa} PRIVATE ${isa_flags_${isa}} -fno-math-errno -fno-trapping-math -ffp-contract=fast
      $<$<CONFIG:Release,RelWithDebInfo>:-O3>
      # The functions are as accurate as they are where products and sums become one instruction: at -O1 only with the first flag, and not where
      # the address sanitizer watches the scope of every vector, which keeps each in memory.
      $<$<CONFIG:Sanitize>:-fexpensive-optimizations -fno-sanitize-address-use-after-scope>)
    target_link_libraries(tandem_isa_${isa} PRIVATE tandem_internal)
    target_sources(tandem PRIVATE $<TARGET_OBJECTS:tandem_isa_${isa}>)
  endforeach()
endif()

# Kernels for AMX, a part of processors that have avx512. Elsewhere they are compiled as functions that say so.
file(GLOB amx_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kernels/cpu/amx/*.cpp)
add_library(tandem_amx OBJECT ${amx_sources})
if(isa_flags_avx512 AND "avx512" IN_LIST TANDEM_ISAS)
  target_compile_options(tandem_amx PRIVATE ${isa_flags_avx512} -mamx-tile -mamx-bf16)
endif()
target_link_libraries(tandem_amx PRIVATE tandem_internal)
target_sources(tandem PRIVATE $<TARGET_OBJECTS:tandem_amx>)

# Data that ships inside the library (see src/data/README.md).
set(digits ${PROJECT_SOURCE_DIR}/src/data/digits_embed.S)
if(EXISTS ${digits})
  target_sources(tandem PRIVATE ${digits})
  set_source_files_properties(${digits} PROPERTIES
    INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/src/data OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/src/data/digits.csv.gz)
endif()

# tandem_library_beside(NAME ROOM): libtandem_NAME.so, tandem::NAME, a room whose library only those programs link that use it.
function(tandem_library_beside name room)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  set(target tandem_${name})
  add_library(${target} SHARED ${sources})
  add_library(tandem::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  target_link_libraries(${target} PUBLIC tandem PRIVATE $<BUILD_INTERFACE:tandem_internal> $<BUILD_INTERFACE:$<$<CONFIG:Release>:tandem_own_paths>>)
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-O1 -Wl,--as-needed -Wl,-Bsymbolic-functions
    $<$<NOT:$<CONFIG:Sanitize>>:-Wl,-z,defs> $<$<CONFIG:Release>:-s>)
endfunction()
tandem_library_beside(distributions distributions)
if(NOT PROJECT_IS_TOP_LEVEL AND NOT TANDEM_INSTALL)
  set_target_properties(tandem_distributions PROPERTIES EXCLUDE_FROM_ALL ON)  # built where something links it
endif()
