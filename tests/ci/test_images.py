# SPDX-License-Identifier: Apache-2.0
"""How the digest of an image is asked for, of a registry made here."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import images
import pytest
import versions

DIGEST = "sha256:" + "ab" * 32
PATH = "/v2/ascend/cann/manifests/"


class Registry(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        scope = "scope=repository:ascend/cann:pull"
        assert self.path.partition("?")[0] == "/v2/auth"
        assert self.path.endswith(scope)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"token": "let-me"}).encode())

    def do_HEAD(self) -> None:
        known = {f"{PATH}1.0": DIGEST, f"{PATH}broken": "sha256:0"}
        allowed = self.headers["Authorization"] == "Bearer let-me"
        of_all_architectures = images.INDEX in self.headers["Accept"]
        found = known.get(self.path) if allowed and of_all_architectures else None
        self.send_response(200 if found else 404)
        if found:
            self.send_header("Docker-Content-Digest", found)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def repository() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}/ascend/cann"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        pytest.param("1.0", DIGEST, id="the-registry-knows-it"),
        pytest.param("2.0", images.UNRESOLVED, id="the-registry-has-no-such-tag"),
        pytest.param("broken", images.UNRESOLVED, id="the-answer-is-no-digest"),
    ],
)
def test_the_digest_is_what_the_registry_says(repository: str, tag: str, expected: str) -> None:
    assert images.digest(repository, tag, "http") == expected


def test_without_a_registry_it_is_unresolved() -> None:
    # Nothing listens on the discard port.
    assert images.digest("127.0.0.1:9/ascend/cann", "1.0", "http") == images.UNRESOLVED


def test_resolve_keeps_what_is_resolved_and_rewrites_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = versions.load_versions()
    text = (versions.ROOT / "versions.toml").read_text(encoding="utf-8")
    first, *rest = images.tags(pins)
    other = "sha256:" + "cd" * 32
    monkeypatch.setattr(images, "digest", lambda *_: DIGEST)
    pins["images"]["digest"][first] = other
    lines = images.resolve(pins, text).splitlines()
    assert f'"{first}" = "{other}"' in lines
    assert [line for line in lines if DIGEST in line] == [f'"{tag}" = "{DIGEST}"' for tag in rest]
    same = set(text.splitlines()) - {f'"{tag}" = "unresolved"' for tag in (first, *rest)}
    assert same <= set(lines)
