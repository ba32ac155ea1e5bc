# SPDX-License-Identifier: Apache-2.0
"""ci/ascend_host.py on made-up hosts: what a container gets, and the sentence of every refusal.

The nodes are plain files with an Ascend host's owner and mode.
"""

import os
from pathlib import Path

import pytest
from ascend_host import DRIVER, MANAGERS, AscendHost, HostError

MOUNTS = [
    f"--mount=type=bind,source={path},target={path},readonly"
    for path in (
        "/usr/local/Ascend/driver/lib64",
        "/usr/local/Ascend/driver/version.info",
        "/usr/local/dcmi",
        "/etc/ascend_install.info",
        "/usr/local/bin/npu-smi",
    )
]
MANAGER_NODES = [
    "--device=/dev/davinci_manager",
    "--device=/dev/devmm_svm",
    "--device=/dev/hisi_hdc",
]
HOST = "run on an Ascend host whose driver is loaded, or use DEVICE=host"


class MadeUp(AscendHost):
    """A whole Ascend host; a row takes one thing away."""

    def __init__(self, root: Path, npus: int) -> None:
        super().__init__(root, may_open=lambda _node: True)
        for name in [*(f"davinci{number}" for number in range(npus)), *MANAGERS]:
            self.node(name)
        for path in (*DRIVER, "usr/local/bin/npu-smi"):
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def node(self, name: str, mode: int = 0o660, owner: int = 1000) -> None:
        path = self.root / "dev" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, owner, owner)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    @property
    def group_of_nodes(self) -> int:
        return 1000 if os.geteuid() == 0 else os.getegid()


@pytest.fixture
def host(tmp_path: Path) -> MadeUp:
    return MadeUp(tmp_path, 2)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_each_npu_costs_one_node_and_nothing_else(tmp_path: Path, count: int) -> None:
    host = MadeUp(tmp_path, count)
    assert host.find().arguments() == [
        *(f"--device=/dev/davinci{number}" for number in range(count)),
        *MANAGER_NODES,
        *MOUNTS,
        f"--group-add={host.group_of_nodes}",
    ]


@pytest.mark.parametrize(("count", "visible"), [(1, "0"), (2, "0,1"), (8, "0,1,2,3,4,5,6,7")])
def test_the_ascend_runtime_gets_numbers_and_the_group(
    tmp_path: Path, count: int, visible: str
) -> None:
    host = MadeUp(tmp_path, count)
    for path in (*DRIVER, "usr/local/bin/npu-smi"):
        host.remove(path)
    assert host.find(runtime=True).arguments() == [
        "--runtime=ascend",
        f"--env=ASCEND_VISIBLE_DEVICES={visible}",
        f"--group-add={host.group_of_nodes}",
    ]


@pytest.mark.parametrize("count", [1, 2, 8])
def test_a_users_podman_keeps_the_users_groups(tmp_path: Path, count: int) -> None:
    host = MadeUp(tmp_path, count)
    assert host.find(rootless=True).arguments(rootless_podman=True) == [
        *(f"--device=/dev/davinci{number}" for number in range(count)),
        *MANAGER_NODES,
        *MOUNTS,
        "--group-add=keep-groups",
    ]


def test_chosen_npus_are_passed_and_no_others(tmp_path: Path) -> None:
    found = MadeUp(tmp_path, 8).find("5,3")
    assert found.numbers == (3, 5)
    assert found.nodes[:3] == ("/dev/davinci3", "/dev/davinci5", "/dev/davinci_manager")


def test_ten_npus_are_counted_as_numbers(tmp_path: Path) -> None:
    assert MadeUp(tmp_path, 12).find().numbers == tuple(range(12))


def test_npu_smi_may_lie_in_sbin(host: MadeUp) -> None:
    host.remove("usr/local/bin/npu-smi")
    (host.root / "usr/local/sbin").mkdir()
    (host.root / "usr/local/sbin/npu-smi").touch()
    assert host.find().mounts[-1] == "/usr/local/sbin/npu-smi"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a node to another group")
def test_every_group_of_the_nodes_is_added_once(host: MadeUp) -> None:
    host.node("hisi_hdc", owner=1001)
    assert host.find().arguments()[-2:] == ["--group-add=1000", "--group-add=1001"]


def test_a_node_for_everybody_needs_no_group_bits(host: MadeUp) -> None:
    host.node("davinci0", mode=0o606)
    assert host.find().numbers == (0, 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            lambda host: [host.remove(f"dev/davinci{n}") for n in (0, 1)],
            f"expected an NPU's device node /dev/davinci0, found none: {HOST}",
            id="no-npu",
        ),
        *(
            pytest.param(
                lambda host, name=name: host.remove(f"dev/{name}"),
                f"expected the node /dev/{name} beside the NPU's, found none: load the Ascend "
                "driver (it makes the node), or use DEVICE=host",
                id=f"no-{name}",
            )
            for name in MANAGERS
        ),
        *(
            pytest.param(
                lambda host, path=path: host.remove(path),
                f"expected /{path} of the Ascend driver, found none: install the driver, or the "
                "Ascend runtime of the engine, which finds it itself",
                id=f"no-{Path(path).name}",
            )
            for path in DRIVER
        ),
        pytest.param(
            lambda host: host.remove("usr/local/bin/npu-smi"),
            "expected npu-smi as /usr/local/bin/npu-smi or /usr/local/sbin/npu-smi, found none: "
            "install the Ascend driver's tools",
            id="no-npu-smi",
        ),
    ],
)
def test_what_is_not_there_is_named_with_its_fix(
    host: MadeUp, monkeypatch: pytest.MonkeyPatch, change, sentence: str
) -> None:
    monkeypatch.setenv("PATH", "")
    assert host.find().numbers == (0, 1)
    change(host)
    with pytest.raises(HostError) as refused:
        host.find()
    assert str(refused.value) == f"DEVICE=npu: {sentence}"


def test_npu_smi_elsewhere_is_named_with_the_link_to_make(
    host: MadeUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.remove("usr/local/bin/npu-smi")
    tool = tmp_path / "opt" / "npu-smi"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"/nowhere{os.pathsep}{tool.parent}")
    with pytest.raises(HostError) as refused:
        host.find()
    assert str(refused.value) == (
        "DEVICE=npu: expected npu-smi as /usr/local/bin/npu-smi or /usr/local/sbin/npu-smi, "
        f"found {tool}: ln -s {tool} /usr/local/bin/npu-smi"
    )


@pytest.mark.parametrize(
    ("name", "mode"), [("davinci0", 0o600), ("davinci1", 0o640), ("hisi_hdc", 0o604)]
)
def test_a_node_that_its_group_may_not_open_is_refused(host: MadeUp, name: str, mode: int) -> None:
    host.node(name, mode)
    owner = f"{host.group_of_nodes}:{host.group_of_nodes}"
    if os.geteuid() != 0:
        owner = f"{os.geteuid()}:{os.getegid()}"
    with pytest.raises(HostError) as refused:
        host.find()
    assert str(refused.value) == (
        f"DEVICE=npu: expected /dev/{name} to be readable and writable for its group, got mode "
        f"{mode:04o} (owner {owner}): chmod 0660 /dev/{name}, as the driver's installer sets it"
    )


def test_a_users_podman_needs_the_users_own_permission(host: MadeUp) -> None:
    host.may_open = lambda node: node.name != "davinci1"
    assert host.find().numbers == (0, 1)
    with pytest.raises(HostError) as refused:
        host.find(rootless=True)
    gid = host.group_of_nodes
    uid = 1000 if os.geteuid() == 0 else os.geteuid()
    assert str(refused.value) == (
        f"DEVICE=npu: no permission on /dev/davinci1 (mode 0660, owner {uid}:{gid}), which a "
        f"user's own podman needs: add yourself to the group {gid} and log in again"
    )


@pytest.mark.parametrize("wanted", ["2", "0,2", "x", "0,", "-1"])
def test_numbers_that_are_not_there_are_refused(host: MadeUp, wanted: str) -> None:
    with pytest.raises(HostError) as refused:
        host.find(wanted)
    assert (
        str(refused.value) == f"NPUS: expected numbers of 0, 1 with commas between, got '{wanted}'"
    )
