# `cmake --install`: library, program, plug-ins, public headers, what find_package(tandem) and pkg-config read, the man page, completion for shells. The
# package names no dependency: those of the library are private to it. Component core is all but the plug-ins that need more than the library does.
include(CMakePackageConfigHelpers)

# What is installed, without tests and benchmarks.
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(product DEPENDS tandem)
  foreach(target tandem_distributions tandem_program tandem_board tandem_cuda tandem_mpi tandem_python)
    if(TARGET ${target})
      add_dependencies(product ${target})
    endif()
  endforeach()
endif()
if(NOT TANDEM_INSTALL)
  return()
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME core)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tandem)

install(TARGETS tandem tandem_distributions EXPORT tandemTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tandem_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(name core/tandem_board cuda/tandem_cuda mpi/tandem_mpi)
  string(REPLACE "/" ";" name ${name})
  list(POP_FRONT name component)
  if(TARGET ${name})
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  endif()
endforeach()

# The package for Python lies where a virtual environment at the prefix finds it.
if(TARGET tandem_python)
  set(python_site ${CMAKE_INSTALL_LIBDIR}/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tandem DESTINATION ${python_site} COMPONENT python PATTERN __pycache__ EXCLUDE)
  set_target_properties(tandem_python PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
  install(TARGETS tandem_python LIBRARY DESTINATION ${python_site}/tandem COMPONENT python)
endif()

install(CODE "
  set(SOURCE \"${PROJECT_SOURCE_DIR}/src\")
  set(GENERATED \"${TANDEM_GENERATED}\")
  set(DESTINATION \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")
  list(TRANSFORM public PREPEND \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/tandem/\")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${public})")

write_basic_package_version_file(${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tandemConfig.cmake.in ${PROJECT_BINARY_DIR}/tandemConfig.cmake
  INSTALL_DESTINATION ${package_folder})
install(EXPORT tandemTargets NAMESPACE tandem:: DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/tandemConfig.cmake ${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake DESTINATION ${package_folder})

# pkg-config: folders relative to the file, so that the installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE tandem_pc_to_include)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tandem.pc.in ${PROJECT_BINARY_DIR}/tandem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tandem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The licence, the notice of the digits inside the library, the page that the ledger's advice names, the manual, and what shells complete a command line by.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/data/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME NOTICE.digits)
install(FILES ${PROJECT_SOURCE_DIR}/docs/ledger.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(packaging ${PROJECT_SOURCE_DIR}/packaging)
install(FILES ${packaging}/tandem.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${packaging}/completions/tandem.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tandem)
foreach(folder site-functions vendor-completions)  # of zsh itself, and of Debian's
  install(FILES ${packaging}/completions/_tandem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
endforeach()
install(FILES ${packaging}/completions/tandem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake)
endif()

# What was installed, for `./dev uninstall`; packages keep such a list themselves.
install(CODE "
  set(names \${CMAKE_INSTALL_MANIFEST_FILES} \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/tandem/installed)
  list(TRANSFORM names REPLACE \"^\${CMAKE_INSTALL_PREFIX}/\" \"\")
  list(JOIN names \"\\n\" names)
  file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/tandem/installed\" \"\${names}\\n\")" COMPONENT manifest)

# cpack: Debian packages for the Debian that it runs on, one for each component.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME tandem)
  set(CPACK_PACKAGE_CONTACT "The authors of tandem")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_COMPONENTS_ALL core)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
  set(CPACK_DEBIAN_CORE_PACKAGE_NAME tandem)
  set(CPACK_DEBIAN_CORE_PACKAGE_DEPENDS libopenblas0-serial)  # opened at the first decomposition, so not seen among what is linked
  set(CPACK_COMPONENT_CORE_DESCRIPTION "The library, its headers and the program tandem.")
  foreach(plugin cuda mpi)
    if(TARGET tandem_${plugin})
      string(TOUPPER ${plugin} name)
      list(APPEND CPACK_COMPONENTS_ALL ${plugin})
      set(CPACK_DEBIAN_${name}_PACKAGE_NAME tandem-${plugin})
      set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "tandem (= ${PROJECT_VERSION})")
      set(CPACK_COMPONENT_${name}_DESCRIPTION "The plug-in for ${name}.")
    endif()
  endforeach()
  include(CPack)
endif()
