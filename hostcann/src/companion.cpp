// SPDX-License-Identifier: Apache-2.0
// torch_npu's libraries and programs with kernels name several of CANN's, all of whose functions
// are in libascendcl.so or in headers here. A companion library is a name that leads there.
