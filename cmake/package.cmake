# `cmake --install`: library, program, plug-ins, public headers, and what find_package(tandem) reads. The package names no
# dependency: those of the library are private to it.
include(CMakePackageConfigHelpers)

# What is installed, without tests and benchmarks.
add_custom_target(product DEPENDS tandem)
foreach(target tandem_program tandem_board tandem_cuda tandem_mpi)
  if(TARGET ${target})
    add_dependencies(product ${target})
  endif()
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tandem)

install(TARGETS tandem EXPORT tandemTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tandem_program)
  install(TARGETS tandem_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(plugin tandem_board tandem_cuda tandem_mpi)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

install(CODE "
  set(SOURCE \"${CMAKE_SOURCE_DIR}/src\")
  set(GENERATED \"${TANDEM_GENERATED}\")
  set(DESTINATION \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")")

write_basic_package_version_file(${CMAKE_BINARY_DIR}/tandemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tandemConfig.cmake.in ${CMAKE_BINARY_DIR}/tandemConfig.cmake
  INSTALL_DESTINATION ${package_folder})
install(EXPORT tandemTargets NAMESPACE tandem:: DESTINATION ${package_folder})
install(FILES ${CMAKE_BINARY_DIR}/tandemConfig.cmake ${CMAKE_BINARY_DIR}/tandemConfigVersion.cmake DESTINATION ${package_folder})
