# SPDX-License-Identifier: Apache-2.0
"""Every mutant: one change to the sources, and the test that is expected to see it.

A mutant that changes nothing anyone can see is none: the order of the inputs of an addition, or the
current device's index in place of the inputs' behind a guard that makes them one, or an exception
left to torch's own translator, which pybind11 shares between modules of one release.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class TableError(Exception):
    """A sentence for who changes the sources."""


@dataclass(frozen=True)
class Mutant:
    """`find` stands exactly once in `file`; `killer` is a row of the matrix or a pytest node."""

    name: str
    file: str
    find: str
    replace: str
    killer: str

    def applied(self, text: str) -> str:
        count = text.count(self.find)
        if count != 1:
            raise TableError(
                f"mutant '{self.name}': expected its text once in {self.file}, got it {count} "
                f"times; change tests/mutants/table.py with the sources: {self.find!r}"
            )
        return text.replace(self.find, self.replace)


ADD = "csrc/ascendc_add.cpp"
STACK = "csrc/stack.cpp"
CHECK = "csrc/check.cpp"
PYBIND = "csrc/bind_pybind.cpp"
LIBRARY = "csrc/bind_library.cpp"
HEADER = "kernels/add_custom/add_custom.h"
KERNEL = "kernels/add_custom/add_custom.asc"
LOADS_STACK = "python/_stack.py"
LOADER = "python/ascendc-ops-lib/ascendc_ops_lib/__init__.py"
MODULE = "python/ascendc-ops-pybind/ascendc_ops/__init__.py"
IMPORT = "tests/packages/test_import.py::"
TRACING = "tests/library/test_tracing.py::"
PLACES = "tests/packages/test_places.py::"
TRANSFORMS = "tests/library/test_transforms.py::test_a_transform_without_a_rule_is_refused"
UNSEEN = "tests/library/test_transforms.py::test_the_pybind_function_is_never_left_out_of_a_trace"
ENTRY = "tests/packages/test_launch.py::"

CHECKS = (
    # Each check left out.
    ("undefined", "arg.tensor.defined(), where", "true, where", "lib/rejection/x-none"),
    (
        "device",
        "arg.tensor.device().is_privateuseone(), where",
        "true, where",
        "pybind/rejection/both-cpu",
    ),
    (
        "same-device",
        "arg.tensor.device() == reference.tensor.device(), where",
        "true, where",
        "pybind/rejection/y-other-device",
    ),
    (
        "dtype",
        "arg.tensor.scalar_type() == expected, where",
        "true, where",
        "pybind/rejection/x-int32",
    ),
    (
        "layout",
        "arg.tensor.layout() == c10::kStrided, where",
        "true, where",
        "pybind/rejection/x-sparse",
    ),
    ("nested", "!arg.tensor.is_nested(), where", "true, where", "pybind/rejection/x-nested"),
    (
        "shape",
        "TORCH_CHECK(equal, where",
        "TORCH_CHECK(true, where",
        "pybind/rejection/x-shape-8x2047",
    ),
    (
        "contiguous",
        "arg.tensor.is_contiguous(), where",
        "true, where",
        "pybind/rejection/x-transposed",
    ),
    (
        "negation",
        "!arg.tensor.is_neg(), where",
        "true, where",
        "pybind/rejection/x-lazily-negated",
    ),
    ("storage", "held >= needed, where", "true, where", "pybind/rejection/x-freed-storage"),
    (
        "grad",
        "!arg.tensor.requires_grad(), where",
        "true, where",
        "pybind/rejection/x-requires-grad",
    ),
    (
        "tangent",
        "!arg.tensor._fw_grad(/*level=*/0).defined(), where",
        "true, where",
        f"{TRANSFORMS}[dual-pybind]",
    ),
    (
        "batch",
        "!arg.tensor.key_set().has(c10::DispatchKey::FuncTorchBatched), where",
        "true, where",
        f"{TRANSFORMS}[vmap-lib]",
    ),
    (
        "format",
        "format == ACL_FORMAT_ND, where",
        "true, where",
        "pybind/rejection/x-fractal-nz",
    ),
    (
        "output-format",
        "format == ACL_FORMAT_ND, arg.op",
        "true, arg.op",
        "pybind/rejection/output-fractal-nz",
    ),
    (
        "tracer-of-func",
        "kTracers{c10::DispatchKey::FuncTorchDynamicLayerFrontMode,",
        "kTracers{c10::DispatchKey::Tracer,",
        f"{TRANSFORMS}[func.jvp-pybind]",
    ),
    (
        "tracer-of-jit",
        "c10::DispatchKey::Tracer, c10::DispatchKey::Python}",
        "c10::DispatchKey::Python}",
        f"{UNSEEN}[torch.jit.trace]",
    ),
    (
        "tracer-of-python",
        "c10::DispatchKey::Tracer, c10::DispatchKey::Python}",
        "c10::DispatchKey::Tracer}",
        f"{UNSEEN}[make_fx]",
    ),
    (
        "record-of-autograd",
        "autograd_meta() == nullptr) return;",
        "autograd_meta() != nullptr) return;",
        "pybind/rejection/x-requires-grad",
    ),
    # Each weakened.
    (
        "device-or-meta",
        "arg.tensor.device().is_privateuseone(), where",
        "arg.tensor.device().is_privateuseone() || arg.tensor.is_meta(), where",
        "pybind/rejection/both-meta",
    ),
    (
        "same-device-type",
        "arg.tensor.device() == reference.tensor.device(), where",
        "arg.tensor.device().type() == reference.tensor.device().type(), where",
        "pybind/rejection/y-other-device",
    ),
    (
        "dtype-by-size",
        "arg.tensor.scalar_type() == expected, where",
        "arg.tensor.itemsize() == c10::elementSize(expected), where",
        "pybind/rejection/x-int32",
    ),
    (
        "shape-by-rank",
        "TORCH_CHECK(equal, where",
        "TORCH_CHECK(expected.size() == sizes.size(), where",
        "pybind/rejection/x-shape-2048x8",
    ),
    (
        "shape-by-numel",
        "TORCH_CHECK(equal, where",
        "TORCH_CHECK(arg.tensor.numel() == 8 * 2048, where",
        "pybind/rejection/x-shape-16384",
    ),
    (
        "contiguous-by-last-stride",
        "arg.tensor.is_contiguous(), where",
        "arg.tensor.stride(-1) == 1, where",
        "pybind/rejection/x-every-second-row",
    ),
    (
        "storage-not-empty",
        "held >= needed, where",
        "held > 0, where",
        "pybind/rejection/x-short-storage",
    ),
    (
        "storage-without-offset",
        "number(arg.tensor.sym_storage_offset()) + number(arg.tensor.sym_numel())",
        "number(arg.tensor.sym_numel())",
        "pybind/rejection/x-short-storage-at-offset",
    ),
    (
        "storage-in-elements",
        "elements * static_cast<int64_t>(arg.tensor.itemsize())",
        "elements",
        "pybind/rejection/x-short-storage",
    ),
    (
        "format-only-nz",
        "format == ACL_FORMAT_ND, where",
        "format != ACL_FORMAT_FRACTAL_NZ, where",
        "pybind/rejection/x-nchw",
    ),
    # What is told.
    (
        "dtype-name",
        "c10::getDtypeNames(dtype).first",
        "c10::toString(dtype)",
        "pybind/rejection/x-float16",
    ),
    (
        "format-name",
        'return "FRACTAL_NZ";',
        'return "FRACTAL_Z";',
        "pybind/rejection/x-fractal-nz",
    ),
    (
        "argument-name",
        '": argument \'" + arg.name',
        '": argument \'" + arg.op',
        "pybind/rejection/x-float16",
    ),
)


def without(name: str, line: str, killer: str) -> Mutant:
    return Mutant(f"without-{name}", ADD, f"  {line};\n", "", killer)


def swapped(name: str, first: str, second: str, killer: str) -> Mutant:
    """Two lines of the wrapper that stand one after the other, in the other order."""
    return Mutant(
        f"order-{name}", ADD, f"  {first};\n  {second};\n", f"  {second};\n  {first};\n", killer
    )


def instead(name: str, file: str, find: str, replace: str, killer: str) -> Mutant:
    return Mutant(name, file, find, replace, killer)


DTYPE = "check_dtype({}, c10::ScalarType::Float)"
CALLS = (
    *(
        without(f"{rule}-of-{argument}", line.format(argument), f"{argument}-{row}")
        for rule, line, row in (
            ("dtype", DTYPE, "int32"),
            ("strided", "check_strided({})", "sparse"),
            ("shape", "check_shape({}, kShape)", "shape-8x2047"),
            ("contiguous", "check_contiguous({})", "transposed"),
            ("materialised", "check_materialised({})", "freed-storage"),
            ("grad", "check_no_grad({})", "requires-grad"),
            ("format", "check_format_nd(arg_{})", "fractal-nz"),
        )
        for argument in ("x", "y")
    ),
)
# The rows are told by their names alone above.
CALLS = tuple(
    Mutant(each.name, each.file, each.find, each.replace, f"pybind/rejection/{each.killer}")
    for each in CALLS
)

ON_NPU = "  check_on_npu(arg_x);\n  check_on_npu(arg_y);\n  check_same"

WRAPPER = (
    *CALLS,
    instead(
        "without-device-of-x",
        ADD,
        ON_NPU,
        "  check_on_npu(arg_y);\n  check_same",
        "pybind/rejection/x-cpu",
    ),
    instead(
        "without-device-of-y",
        ADD,
        ON_NPU,
        "  check_on_npu(arg_x);\n  check_same",
        "pybind/rejection/y-cpu",
    ),
    instead(
        "order-device-of-x-first",
        ADD,
        ON_NPU,
        "  check_on_npu(arg_y);\n  check_on_npu(arg_x);\n  check_same",
        "pybind/rejection/both-cpu",
    ),
    without("same-device", "check_same_device(arg_y, arg_x)", "pybind/rejection/y-other-device"),
    instead(
        "without-output-format",
        ADD,
        '  check_output_format_nd({kOp, "z", z});\n',
        "",
        "pybind/rejection/output-fractal-nz",
    ),
    swapped(
        "x-before-y", DTYPE.format("x"), DTYPE.format("y"), "pybind/rejection/order-x-before-y"
    ),
    swapped(
        "device-before-dtype",
        "check_same_device(arg_y, arg_x)",
        "check_tensors(arg_x, arg_y)",
        "pybind/rejection/order-other-device-before-dtype",
    ),
    instead(
        "order-dtype-before-shape",
        ADD,
        "  check_dtype(y, c10::ScalarType::Float);\n",
        "  check_shape(x, kShape);\n  check_dtype(y, c10::ScalarType::Float);\n",
        "pybind/rejection/order-dtype-before-shape",
    ),
    swapped(
        "shape-before-contiguity",
        "check_shape(y, kShape)",
        "check_contiguous(x)",
        "pybind/rejection/order-shape-before-contiguity",
    ),
    instead(
        "order-contiguity-before-grad",
        ADD,
        "  check_contiguous(y);\n",
        "  check_no_grad(x);\n  check_contiguous(y);\n",
        "pybind/rejection/order-contiguity-before-grad",
    ),
    instead(
        "order-grad-before-format",
        ADD,
        "  check_tensors(arg_x, arg_y);\n  const c10::",
        "  check_format_nd(arg_x);\n  check_tensors(arg_x, arg_y);\n  const c10::",
        "pybind/rejection/order-grad-before-format",
    ),
    without(
        "device-guard",
        "const c10::OptionalDeviceGuard guard(device_to_guard(x.device()))",
        "pybind/streams/other-device",
    ),
    instead(
        "stream-that-overtakes",
        STACK,
        ".stream();",
        ".stream(false);",
        "pybind/streams/after-queued-copy-task-queue-1",
    ),
    instead(
        "stream-default",
        STACK,
        "c10_npu::getCurrentNPUStream(",
        "c10_npu::getDefaultNPUStream(",
        "pybind/streams/side-stream",
    ),
    instead(
        "stream-of-device-0",
        STACK,
        "getCurrentNPUStream(device.index())",
        "getCurrentNPUStream(0)",
        "pybind/streams/other-device",
    ),
    instead(
        "waits-for-the-device",
        ADD,
        "  return z;\n",
        "  z.cpu();\n  return z;\n",
        "pybind/streams/returns-before-kernel-is-done",
    ),
    *(
        instead(
            f"blocks-{count}",
            ADD,
            "kBlocks = 8;",
            f"kBlocks = {count};",
            f"{ENTRY}test_a_call_is_one_kernel_on_eight_blocks[pybind]",
        )
        for count in (1, 4, 16)
    ),
    instead("blocks-7", ADD, "kBlocks = 8;", "kBlocks = 7;", "pybind/precision/seed"),
    instead(
        "output-is-x",
        ADD,
        "at::Tensor z = empty(kShape, x.options());",
        "at::Tensor z = x;",
        "pybind/precision/output-is-new",
    ),
    instead(
        "output-kept",
        ADD,
        "  at::Tensor z = empty(",
        "  static at::Tensor z = empty(",
        "pybind/precision/output-is-new",
    ),
    instead(
        "output-filled-first",
        ADD,
        "at::Tensor z = empty(kShape, x.options());",
        "at::Tensor z = empty(kShape, x.options()).zero_();",
        f"{ENTRY}test_a_call_is_one_kernel_on_eight_blocks[pybind]",
    ),
    instead(
        "writes-into-y",
        ADD,
        "static_cast<uint8_t*>(z.mutable_data_ptr())",
        "input_address(y)",
        "pybind/precision/inputs-unchanged",
    ),
    instead(
        "adds-x-to-x",
        ADD,
        "input_address(x), input_address(y)",
        "input_address(x), input_address(x)",
        "pybind/precision/seed",
    ),
    instead(
        "length-in-bytes",
        ADD,
        "static_cast<uint32_t>(z.numel())",
        "static_cast<uint32_t>(z.nbytes())",
        "pybind/precision/inputs-unchanged",
    ),
    instead(
        "length-halved",
        ADD,
        "static_cast<uint32_t>(z.numel())",
        "static_cast<uint32_t>(z.numel() / 2)",
        "pybind/precision/seed",
    ),
    instead(
        "meta-mixed",
        ADD,
        "if (!x.is_meta() || !y.is_meta()) {",
        "if (false) {",
        "lib/rejection/x-meta",
    ),
    instead(
        "meta-unchecked",
        ADD,
        "  check_tensors(arg_x, arg_y);\n  return empty",
        "  return empty",
        "lib/rejection/both-meta-dtype",
    ),
    instead(
        "meta-other-shape",
        ADD,
        "  return empty(kShape, x.options());",
        "  return empty({2048, 8}, x.options());",
        "lib/precision/meta-tensors",
    ),
)

BINDINGS = (
    instead(
        "pybind-keeps-the-lock",
        PYBIND,
        "      const py::gil_scoped_release no_gil;\n",
        "",
        f"{PLACES}test_a_call_launches_without_the_lock_of_the_interpreter[ascendc_ops]",
    ),
    instead(
        "pybind-any-object",
        PYBIND,
        "!loaded.load(value, false)",
        "loaded.load(value, false), false",
        "pybind/rejection/x-list",
    ),
    instead(
        "pybind-swapped",
        PYBIND,
        "z = compute(x_tensor, y_tensor);",
        "z = compute(y_tensor, x_tensor);",
        "pybind/rejection/x-float16",
    ),
    instead(
        "pybind-wrappers",
        PYBIND,
        "  ascendc_ops::check_direct_call({op, name, tensor});\n",
        "",
        f"{TRANSFORMS}[vmap-pybind]",
    ),
    instead(
        "pybind-names",
        PYBIND,
        'py::arg("x"), py::arg("y")',
        'py::arg("y"), py::arg("x")',
        f"{IMPORT}test_stub_signatures_and_schemas_name_the_same_operators",
    ),
    instead(
        "schema-alias",
        LIBRARY,
        "ascendc_add(Tensor x, Tensor y) -> Tensor",
        "ascendc_add(Tensor(a!) x, Tensor y) -> Tensor",
        f"{IMPORT}test_loading_twice_by_any_route_is_harmless",
    ),
    instead(
        "no-kernel",
        LIBRARY,
        "  on(DispatchKey::PrivateUse1, std::move(kernel));\n",
        "",
        "lib/precision/seed",
    ),
    instead(
        "no-meta-kernel",
        LIBRARY,
        "  on(DispatchKey::Meta, std::move(meta));\n",
        "",
        "lib/precision/meta-tensors",
    ),
    instead(
        "no-autograd-kernel",
        LIBRARY,
        "  on(DispatchKey::Autograd, CppFunction::makeFromBoxedFunction<&refuse_hidden>());\n",
        "",
        f"{TRANSFORMS}[func.grad-lib]",
    ),
    instead(
        "no-batching-kernel",
        LIBRARY,
        "on(DispatchKey::FuncTorchBatched, CppFunction::makeFrom",
        "static_cast<void>(CppFunction::makeFrom",
        f"{TRANSFORMS}[vmap-lib]",
    ),
    instead(
        "hidden-gradient",
        LIBRARY,
        "    if (wrappers.has(DispatchKey::FuncTorchGradWrapper)) check_no_grad(arg);\n",
        "",
        f"{TRANSFORMS}[func.grad-lib]",
    ),
    instead(
        "hidden-device",
        LIBRARY,
        "      check_on_npu(arg);\n",
        "",
        f"{TRACING}test_two_fake_tensors_of_the_cpu_are_refused",
    ),
    instead(
        "hidden-other-device",
        LIBRARY,
        "      check_same_device(arg, *first);\n",
        "",
        f"{TRACING}test_fake_tensors_are_refused_like_real_ones[other-device]",
    ),
    instead(
        "negation-left-to-torch",
        LIBRARY,
        "{DispatchKey::Negative, DispatchKey::Conjugate}",
        "{DispatchKey::Conjugate}",
        "lib/rejection/x-lazily-negated",
    ),
)

KERNELS = (
    instead(
        "tiling-swapped",
        HEADER,
        "  uint32_t totalLength;  // elements of x, y and z\n"
        "  uint32_t tileNum;      // tiles each block splits its share into\n",
        "  uint32_t tileNum;\n  uint32_t totalLength;\n",
        "pybind/precision/seed",
    ),
    instead(
        "tiles-4",
        HEADER,
        "kAddCustomTileNum = 8;",
        "kAddCustomTileNum = 4;",
        f"{ENTRY}test_the_kernel_fills_the_unified_buffer_and_no_more",
    ),
    instead(
        "tiles-16",
        HEADER,
        "kAddCustomTileNum = 8;",
        "kAddCustomTileNum = 16;",
        f"{ENTRY}test_the_kernel_fills_the_unified_buffer_and_no_more",
    ),
    instead(
        "one-buffer",
        KERNEL,
        "kBufferNum = 2;",
        "kBufferNum = 1;",
        f"{ENTRY}test_the_kernel_fills_the_unified_buffer_and_no_more",
    ),
    instead("no-buffer", KERNEL, "kBufferNum = 2;", "kBufferNum = 0;", "pybind/precision/seed"),
    instead("kernel-no-op", KERNEL, "  op.Process();\n", "", "pybind/precision/seed"),
    instead(
        "kernel-zeros",
        KERNEL,
        "AscendC::Add(z, x, y, tileLength_);",
        "AscendC::Duplicate(z, 0.0f, tileLength_);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-sign",
        KERNEL,
        "AscendC::Add(z, x, y, tileLength_);",
        "AscendC::Sub(z, x, y, tileLength_);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-rounds-twice",
        KERNEL,
        "AscendC::Add(z, x, y, tileLength_);",
        "AscendC::Add(z, x, y, tileLength_);\n    AscendC::Adds(z, z, 1e-7f, tileLength_);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-last-element",
        KERNEL,
        "AscendC::Add(z, x, y, tileLength_);",
        "AscendC::Add(z, x, y, tileLength_ - 1);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-last-tile",
        KERNEL,
        "tile < tileNum_;",
        "tile + 1 < tileNum_;",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-first-tile",
        KERNEL,
        "for (uint32_t tile = 0;",
        "for (uint32_t tile = 1;",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-one-tile-more",
        KERNEL,
        "tile < tileNum_;",
        "tile <= tileNum_;",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-offset",
        KERNEL,
        "blockLength * AscendC::GetBlockIdx();",
        "blockLength * AscendC::GetBlockIdx() + 8;",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-one-block-skipped",
        KERNEL,
        "  op.Process();\n",
        "  if (AscendC::GetBlockIdx() != 5) op.Process();\n",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-stale-tile",
        KERNEL,
        "AscendC::DataCopy(y, yGm_[tile * tileLength_], tileLength_);",
        "AscendC::DataCopy(y, yGm_[(tile / 2) * tileLength_], tileLength_);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-buffer-not-filled",
        KERNEL,
        "    AscendC::DataCopy(y, yGm_[tile * tileLength_], tileLength_);\n",
        "",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-buffer-kept",
        KERNEL,
        "    xQueue_.FreeTensor(x);\n",
        "",
        "pybind/precision/seed",
    ),
    instead("kernel-not-queued", KERNEL, "    zQueue_.EnQue(z);\n", "", "pybind/precision/seed"),
    instead(
        "kernel-overruns",
        KERNEL,
        "zGm_.SetGlobalBuffer((__gm__ float*)z + offset, blockLength);",
        "zGm_.SetGlobalBuffer((__gm__ float*)z + offset + (1u << 30), blockLength);",
        "pybind/precision/seed",
    ),
    instead(
        "kernel-writes-x",
        KERNEL,
        "zGm_.SetGlobalBuffer((__gm__ float*)z",
        "zGm_.SetGlobalBuffer((__gm__ float*)x",
        "pybind/precision/seed",
    ),
)

PACKAGES = (
    instead(
        "torch-unchecked",
        LOADS_STACK,
        '    _check_version(package, "torch", torch)\n',
        "",
        f"{IMPORT}test_other_version_is_refused[torch-2.12.0-2.13.0+cpu-ascendc_ops]",
    ),
    instead(
        "torch-npu-unchecked",
        LOADS_STACK,
        '    _check_version(package, "torch_npu", torch_npu)\n',
        "",
        f"{IMPORT}test_other_version_is_refused[torch_npu-2.12.0-2.13.0-ascendc_ops]",
    ),
    instead(
        "cann-unchecked",
        LOADS_STACK,
        "    _check_cann(package, cann)\n",
        "",
        f"{IMPORT}test_kernels_of_hostcann_are_refused_on_cann[ascendc_ops]",
    ),
    instead(
        "free-threaded-unchecked",
        LOADS_STACK,
        'if sysconfig.get_config_var("Py_GIL_DISABLED"):',
        "if False:",
        f"{PLACES}test_a_free_threaded_python_is_refused[ascendc_ops]",
    ),
    instead(
        "subinterpreter-unchecked",
        LOADS_STACK,
        "if _in_subinterpreter():",
        "if False:",
        f"{PLACES}test_a_subinterpreter_is_refused[ascendc_ops]",
    ),
    instead(
        "archive-unchecked",
        LOADS_STACK,
        "    _check_unpacked(package)\n",
        "",
        f"{PLACES}test_a_package_in_an_archive_is_refused[ascendc_ops]",
    ),
    instead(
        "kernels-by-library-path",
        "CMakeLists.txt",
        "-Wl,--disable-new-dtags",
        "-Wl,--enable-new-dtags",
        f"{PLACES}test_a_decoy_of_the_kernels_library_is_not_loaded[ascendc_ops]",
    ),
    instead(
        "import-cause-hidden",
        LOADS_STACK,
        "    if problem := _mismatch.not_loaded(text):\n        return str(problem)\n",
        "",
        f"{IMPORT}test_without_cann_names_the_missing_library[ascendc_ops]",
    ),
    instead(
        "autoload-left-off",
        LOADS_STACK,
        "            os.environ[variable] = before\n",
        "            pass\n",
        f"{IMPORT}test_every_import_order_works_and_leaves_the_device_alone[torch-ascendc_ops-ascendc_ops_lib-1]",
    ),
    instead(
        "loads-twice",
        LOADER,
        "    if LIBRARY in torch.ops.loaded_libraries:\n        return\n",
        "",
        f"{IMPORT}test_loading_twice_by_any_route_is_harmless",
    ),
    instead(
        "loads-over-another",
        LOADER,
        "if torch._C._jit_get_schemas_for_operator(operator):",
        "if False:",
        f"{IMPORT}test_a_schema_defined_elsewhere_is_an_import_error",
    ),
    instead(
        "loads-from-the-working-directory",
        LOADER,
        'str(Path(__file__).resolve().parent / "libascendc_ops.so")',
        'str(Path("libascendc_ops.so").resolve())',
        f"{IMPORT}test_loading_twice_by_any_route_is_harmless",
    ),
    instead(
        "module-swaps",
        MODULE,
        "return _C.ascendc_add(x, y)",
        "return _C.ascendc_add(y, x)",
        "pybind/rejection/x-float16",
    ),
)

MUTANTS = (
    *(instead(f"check-{name}", CHECK, *change) for name, *change in CHECKS),
    *WRAPPER,
    *BINDINGS,
    *KERNELS,
    *PACKAGES,
)
