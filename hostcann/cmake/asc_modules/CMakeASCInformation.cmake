# SPDX-License-Identifier: Apache-2.0
# How CMake compiles and links the language ASC. No flag for run-time search paths is defined: as with
# CANN, CMake's RPATH properties do nothing for what this language links.

include(asc_settings)
asc_check_settings()

set(CMAKE_ASC_OUTPUT_EXTENSION_REPLACE 0)

# Flags.
set(CMAKE_ASC_FLAGS_INIT "$ENV{ASCFLAGS} ${CMAKE_ASC_FLAGS_INIT}")
set(CMAKE_ASC_FLAGS_DEBUG_INIT "-g -O0")
set(CMAKE_ASC_FLAGS_RELEASE_INIT "-O3 -DNDEBUG")
set(CMAKE_ASC_FLAGS_RELWITHDEBINFO_INIT "-O2 -g -DNDEBUG")
set(CMAKE_ASC_FLAGS_MINSIZEREL_INIT "-Os -DNDEBUG")
cmake_initialize_per_config_variable(CMAKE_ASC_FLAGS "Flags used by the ASC compiler")

if(NOT "${CMAKE_BUILD_TYPE}" MATCHES "^(Debug|Release)?$")
  message(WARNING "ASC: CANN knows the build types Debug and Release, got '${CMAKE_BUILD_TYPE}'")
endif()

if(NOT CMAKE_ASC_STANDARD)
  set(CMAKE_ASC_STANDARD 17)
endif()

# In the rules and not in CMAKE_ASC_FLAGS, which is kept in the cache: a changed architecture or
# standard takes effect at the next configure.
set(_asc_arch "")
if(CMAKE_ASC_ARCHITECTURES)
  set(_asc_arch " --npu-arch=${CMAKE_ASC_ARCHITECTURES}")
endif()

set(CMAKE_INCLUDE_FLAG_ASC "-I")
set(CMAKE_INCLUDE_SYSTEM_FLAG_ASC "-isystem ")
set(CMAKE_ASC_COMPILE_OPTIONS_VISIBILITY "-fvisibility=")
set(CMAKE_ASC_COMPILE_OPTIONS_VISIBILITY_INLINES_HIDDEN "-fvisibility-inlines-hidden")
set(CMAKE_ASC_LINKER_WRAPPER_FLAG "-Wl,")
set(CMAKE_ASC_LINKER_WRAPPER_FLAG_SEP ",")
set(CMAKE_ASC_VERBOSE_FLAG "-v")

# Dependency files, for Makefiles and Ninja.
set(CMAKE_DEPFILE_FLAGS_ASC "-MD -MT <DEP_TARGET> -MF <DEP_FILE>")
set(CMAKE_ASC_DEPFILE_FORMAT gcc)
set(CMAKE_ASC_DEPENDS_USE_COMPILER TRUE)

# Rules.
# -fPIC always: kernels end up in a library even when they pass through a static one first.
set(
  _asc_compile
  "<CMAKE_ASC_COMPILER> <DEFINES> <INCLUDES> -std=c++${CMAKE_ASC_STANDARD} <FLAGS>${_asc_arch} -fPIC"
)
set(CMAKE_ASC_COMPILE_OBJECT "${_asc_compile} -o <OBJECT> -c --asc-aicore-lang <SOURCE>")
set(
  CMAKE_ASC_CREATE_PREPROCESSED_SOURCE
  "${_asc_compile} -E --asc-aicore-lang <SOURCE> -o <PREPROCESSED_SOURCE>"
)
set(
  CMAKE_ASC_CREATE_ASSEMBLY_SOURCE
  "${_asc_compile} -S --asc-aicore-lang <SOURCE> -o <ASSEMBLY_SOURCE>"
)

set(CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS "-shared")
set(CMAKE_SHARED_MODULE_CREATE_ASC_FLAGS "-shared")
set(CMAKE_SHARED_LIBRARY_SONAME_ASC_FLAG "-Wl,-soname,")
set(CMAKE_SHARED_LIBRARY_LINK_ASC_FLAGS "")
set(
  CMAKE_ASC_CREATE_SHARED_LIBRARY
  "<CMAKE_ASC_COMPILER>${_asc_arch} <LANGUAGE_COMPILE_FLAGS> <CMAKE_SHARED_LIBRARY_CREATE_ASC_FLAGS> <LINK_FLAGS> <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>"
)
set(CMAKE_ASC_CREATE_SHARED_MODULE "${CMAKE_ASC_CREATE_SHARED_LIBRARY}")
set(CMAKE_ASC_ARCHIVE_CREATE "<CMAKE_AR> qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_ASC_ARCHIVE_APPEND "<CMAKE_AR> q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_ASC_ARCHIVE_FINISH "<CMAKE_RANLIB> <TARGET>")
set(
  CMAKE_ASC_LINK_EXECUTABLE
  "<CMAKE_ASC_COMPILER>${_asc_arch} <FLAGS> <CMAKE_ASC_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>"
)

set(CMAKE_ASC_INFORMATION_LOADED 1)
