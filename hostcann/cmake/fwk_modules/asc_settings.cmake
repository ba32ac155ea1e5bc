# SPDX-License-Identifier: Apache-2.0
# The variables a project sets for the ASC language, checked before anything is compiled.

include_guard(GLOBAL)

# What hostcann knows and what it emulates, as its bisheng does.
set(_ASC_KNOWN_ARCHITECTURES dav-2002 dav-2201 dav-3510)
set(_ASC_EMULATED_ARCHITECTURES dav-2201)

function(asc_check_settings)
  list(JOIN _ASC_KNOWN_ARCHITECTURES ", " known)
  list(JOIN _ASC_EMULATED_ARCHITECTURES ", " emulated)
  list(LENGTH CMAKE_ASC_ARCHITECTURES count)
  if(count GREATER 1)
    list(JOIN CMAKE_ASC_ARCHITECTURES ", " given)
    message(FATAL_ERROR "ASC: expected one architecture in CMAKE_ASC_ARCHITECTURES, got ${given}")
  endif()
  # Unset is fine: a project may pass --npu-arch itself.
  if(count EQUAL 1)
    if(NOT CMAKE_ASC_ARCHITECTURES IN_LIST _ASC_KNOWN_ARCHITECTURES)
      message(
        FATAL_ERROR
        "ASC: expected CMAKE_ASC_ARCHITECTURES to be one of ${known}, got '${CMAKE_ASC_ARCHITECTURES}'"
      )
    endif()
    if(NOT CMAKE_ASC_ARCHITECTURES IN_LIST _ASC_EMULATED_ARCHITECTURES)
      message(
        FATAL_ERROR
        "ASC: CMAKE_ASC_ARCHITECTURES=${CMAKE_ASC_ARCHITECTURES} is not implemented by hostcann; "
        "it implements ${emulated}"
      )
    endif()
  endif()

  # hostcann is another ASCEND_HOME_PATH in npu mode: the other two belong to CANN's own CPU twin
  # and cycle model.
  if(CMAKE_ASC_RUN_MODE MATCHES "^(cpu|sim)$")
    message(
      FATAL_ERROR
      "ASC: CMAKE_ASC_RUN_MODE=${CMAKE_ASC_RUN_MODE} is not implemented by hostcann; "
      "leave it at npu, kernels run on the host all the same"
    )
  elseif(NOT "${CMAKE_ASC_RUN_MODE}" MATCHES "^(npu)?$")
    message(
      FATAL_ERROR
      "ASC: expected CMAKE_ASC_RUN_MODE to be npu, cpu or sim, got '${CMAKE_ASC_RUN_MODE}'"
    )
  endif()

  if(CMAKE_ASC_ENABLE_SIMT)
    message(FATAL_ERROR "ASC: CMAKE_ASC_ENABLE_SIMT is not implemented by hostcann; leave it off")
  endif()

  if(NOT "${CMAKE_ASC_STANDARD}" MATCHES "^(17|20|23)?$")
    message(
      FATAL_ERROR
      "ASC: expected CMAKE_ASC_STANDARD to be 17, 20 or 23, got '${CMAKE_ASC_STANDARD}'"
    )
  endif()
endfunction()
