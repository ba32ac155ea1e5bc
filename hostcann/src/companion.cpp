// SPDX-License-Identifier: Apache-2.0
// torch_npu's libraries name several of CANN's, all of whose functions are in libascendcl.so
// here. A companion library is a name that leads there.
