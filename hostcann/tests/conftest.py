# SPDX-License-Identifier: Apache-2.0
"""What the tests share: where hostcann is installed, its bisheng, and a device to run on."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy
import pytest

HOST_TO_DEVICE = 1
DEVICE_TO_HOST = 2
REPEAT_INITIALIZE = 100002


@pytest.fixture(scope="session")
def prefix():
    if os.environ.get("DEVICE") == "npu":
        pytest.skip("on an NPU the toolkit is CANN, not hostcann")
    named = os.environ.get("ASCEND_HOME_PATH", "")
    if not (Path(named) / "hostcann-version").is_file():
        pytest.fail(
            f"expected ASCEND_HOME_PATH to name an installed hostcann, got '{named}'; source its"
            " set_env.sh first"
        )
    return Path(named)


@pytest.fixture(scope="session")
def driver(prefix):
    (found,) = prefix.glob("*-linux/ccec_compiler/bin/bisheng")
    return found


@pytest.fixture(scope="session")
def bisheng(driver):
    """Runs the driver, which must end with `status`, and returns what it printed."""

    def call(*arguments, status=0, cwd=None, env=None):
        environment = os.environ | {"LC_ALL": "C"} | (env or {})
        done = subprocess.run(
            [driver, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return call


class Device:
    """Device 0 of hostcann, by way of the acl functions a program calls."""

    def __init__(self, prefix):
        self.acl = ctypes.CDLL(str(prefix / "lib64" / "libascendcl.so"), mode=ctypes.RTLD_GLOBAL)
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        # A test that ran before in this process may have brought torch_npu, which does it too.
        assert self.acl.aclInit(None) in (0, REPEAT_INITIALIZE), self.acl.aclGetRecentErrMsg()
        self.call("aclrtSetDevice", 0)

    def call(self, function, *arguments):
        code = getattr(self.acl, function)(*arguments)
        assert code == 0, self.acl.aclGetRecentErrMsg()

    def new_stream(self):
        stream = ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(stream))
        return stream

    def synchronize(self, stream):
        """Error code and message of a stream that has finished its work."""
        code = self.acl.aclrtSynchronizeStream(stream)
        return code, self.acl.aclGetRecentErrMsg().decode() if code else ""

    def upload(self, array):
        address = ctypes.c_void_p()
        size = ctypes.c_size_t(array.nbytes)
        self.call("aclrtMalloc", ctypes.byref(address), size, 0)
        self.copy(address, array.ctypes.data, array.nbytes, HOST_TO_DEVICE)
        return address

    def download(self, address, dtype, count):
        array = numpy.empty(count, dtype)
        self.copy(array.ctypes.data, address, array.nbytes, DEVICE_TO_HOST)
        return array

    def copy(self, target, source, size, kind):
        size = ctypes.c_size_t(size)
        self.call("aclrtMemcpy", _pointer(target), size, _pointer(source), size, kind)


def _pointer(address):
    return address if isinstance(address, ctypes.c_void_p) else ctypes.c_void_p(address)


@pytest.fixture(scope="session")
def device(prefix):
    return Device(prefix)


@pytest.fixture
def stream(device):
    made = device.new_stream()
    yield made
    device.call("aclrtDestroyStreamForce", made)


@pytest.fixture(scope="session")
def build_library(bisheng, tmp_path_factory, device):
    """Compiles a source into a kernels library and loads it."""

    def build(source, *flags):
        library = tmp_path_factory.mktemp("kernels") / f"lib{source.stem}.so"
        arguments = ["--npu-arch=dav-2201", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"]
        bisheng(*arguments, *flags, "-fPIC", "-shared", "-o", library, source)
        assert device  # its runtime must be the one loaded first
        return ctypes.CDLL(str(library))

    return build
