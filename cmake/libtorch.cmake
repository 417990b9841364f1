# Where programs written for libtorch find it: PREFIX/libtorch, a prefix of its own, with <torch/torch.h>, what programs include beside it,
# libtandem_torch.so, and find_package(Torch). A component that only those who ask for it install: `cmake --install build/release --component libtorch`.
set(libtorch_folder libtorch)
file(RELATIVE_PATH libtorch_to_prefix /prefix/${libtorch_folder} /prefix)
set(libtorch_headers
  torch/all.h torch/autograd.h torch/csrc/autograd/functions/comm.h torch/cuda.h torch/data.h torch/enum.h torch/expanding_array.h torch/fft.h torch/linalg.h torch/nn.h
  torch/nn/cloneable.h torch/nn/functional.h torch/nn/functional/activation.h torch/nn/init.h torch/nn/module.h torch/nn/modules.h
  torch/nn/modules/conv.h torch/nn/modules/linear.h torch/nn/options/activation.h torch/nn/pimpl.h torch/optim/sgd.h
  torch/nn/parallel/data_parallel.h torch/nn/utils.h torch/optim.h torch/ordered_dict.h torch/script.h
  torch/serialize.h torch/special.h torch/torch.h torch/types.h torch/utils.h torch/version.h
  ATen/ATen.h ATen/Context.h ATen/Parallel.h ATen/TensorIndexing.h ATen/TensorUtils.h
  c10/core/Device.h c10/core/ScalarType.h c10/core/TensorOptions.h c10/util/ArrayRef.h c10/util/Exception.h c10/util/Optional.h c10/util/flat_hash_map.h c10/util/irange.h
  c10/cuda/CUDACachingAllocator.h c10/cuda/CUDAGuard.h)
configure_file(${PROJECT_SOURCE_DIR}/packaging/libtorch/TorchConfig.cmake.in ${PROJECT_BINARY_DIR}/libtorch/TorchConfig.cmake @ONLY)
# Whose interface it is, as TORCH_VERSION says: projects ask for a version, and read Torch_VERSION.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/libtorch/TorchConfigVersion.cmake VERSION 1.13.1 COMPATIBILITY AnyNewerVersion)
foreach(header ${libtorch_headers})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libtorch/include/${header} CONTENT "#include <tandem/libtorch/torch.h>\n")
endforeach()
foreach(header c10d/ProcessGroup.hpp c10d/ProcessGroupMPI.hpp c10d/Types.hpp torch/csrc/distributed/c10d/ProcessGroup.hpp torch/csrc/distributed/c10d/ProcessGroupMPI.hpp)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libtorch/include/${header} CONTENT "#include <tandem/libtorch/distributed.h>\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libtorch/include/c10/util/tempfile.h CONTENT "#include <tandem/libtorch/tempfile.h>\n")
# Projects for MPI name this archive by its path. What it had is in libtandem_torch.so: for the linker it is a script that does nothing.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libtorch/libc10d.a CONTENT "/* GNU ld script: c10d is a part of libtandem_torch.so, which the target torch links. */\n")
install(FILES ${PROJECT_BINARY_DIR}/libtorch/libc10d.a DESTINATION ${libtorch_folder}/lib COMPONENT libtorch EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_BINARY_DIR}/libtorch/include DESTINATION ${libtorch_folder} COMPONENT libtorch EXCLUDE_FROM_ALL)
install(CODE "
  set(LIBTORCH ON)
  set(SOURCE \"${PROJECT_SOURCE_DIR}/src\")
  set(GENERATED \"${TANDEM_GENERATED}\")
  set(DESTINATION \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${libtorch_folder}/include\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")
  unset(LIBTORCH)
  list(TRANSFORM public PREPEND \"\${CMAKE_INSTALL_PREFIX}/${libtorch_folder}/include/tandem/\")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${public})" COMPONENT libtorch EXCLUDE_FROM_ALL)
file(RELATIVE_PATH libtorch_to_lib /prefix/${libtorch_folder}/lib /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(tandem_torch PROPERTIES INSTALL_RPATH "$ORIGIN/${libtorch_to_lib}")
install(TARGETS tandem_torch LIBRARY DESTINATION ${libtorch_folder}/lib COMPONENT libtorch EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/libtorch/TorchConfig.cmake ${PROJECT_BINARY_DIR}/libtorch/TorchConfigVersion.cmake DESTINATION ${libtorch_folder}/share/cmake/Torch COMPONENT libtorch EXCLUDE_FROM_ALL)
