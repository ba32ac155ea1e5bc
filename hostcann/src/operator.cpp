// SPDX-License-Identifier: Apache-2.0
#include "hostcann/operator.h"

#include "acl/error_codes/rt_error_codes.h"
#include "error.h"

HOSTCANN_API int hostcann_refuse_call(const char* function, int code, const char* why) {
  HOSTCANN_REQUIRE_NOT_NULL(function);
  HOSTCANN_REQUIRE_NOT_NULL(why);
  return hostcann::report(
      function, hostcann::Status(code == ACL_SUCCESS ? ACL_ERROR_RT_PARAM_INVALID : code, why));
}
