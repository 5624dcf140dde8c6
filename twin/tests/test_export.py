"""What is exported: the same bytes from the same seed, and in ripc the twin's integers. RIPC names the program ripc."""
import json
import os
import struct
import subprocess

import numpy as np
import pytest
import torch

from ripc_twin import fixtures
from ripc_twin.digits import data, deterministic, network, right, save, train

KINDS = [(encoding, bits) for encoding in ("unipolar", "bipolar") for bits in (1, 2, 3)]


@pytest.fixture(scope="module")
def images():
    return data()


def read(path):
    blob = path.read_bytes()
    n = struct.unpack("<Q", blob[:8])[0]
    return json.loads(blob[8 : 8 + n]), blob[8 + n :]


def test_test_images_are_those_of_the_example(images):
    folder = os.path.join(os.path.dirname(__file__), "../../examples/digits/data")
    x, y = np.load(os.path.join(folder, "x_test.npy")), np.load(os.path.join(folder, "y_test.npy"))
    assert np.array_equal(images[2].permute(0, 2, 3, 1).numpy(), x) and np.array_equal(images[3].numpy(), y)


def test_a_seed_gives_the_same_bytes(images, tmp_path):
    for run in "ab":
        deterministic(7)
        net = network(2, "unipolar")
        train(net, *images[:2], epochs=1)
        net.export(tmp_path / run / "net")
    for suffix in (".json", ".safetensors"):
        assert (tmp_path / "a" / f"net{suffix}").read_bytes() == (tmp_path / "b" / f"net{suffix}").read_bytes()


def test_files(images, tmp_path):
    deterministic(1)
    net = network(2, "bipolar")
    net(images[0][:64])
    net.eval()
    net.export(tmp_path / "net.json", name="mine")
    model = json.loads((tmp_path / "net.json").read_text())
    assert model["name"] == "mine" and model["weights"] == "net.safetensors" and model["outputs"] == ["dense1"]
    assert [n["op"] for n in model["nodes"]][:4] == ["quantize", "bitserial_conv2d", "max_pool", "shift_norm"]
    header, blob = read(tmp_path / "net.safetensors")
    assert header["conv2.w"]["dtype"] == "I8" and header["conv2.w"]["shape"] == [3, 3, 32, 32]
    ends = sorted(t["data_offsets"] for t in header.values())
    assert ends[0][0] == 0 and ends[-1][1] == len(blob) and all(a[1] == b[0] for a, b in zip(ends, ends[1:]))


def compiled(tmp_path, net, images, target):
    ripc = os.environ.get("RIPC")
    if not ripc:
        pytest.skip("RIPC does not name the program ripc; make twin does")
    net.export(tmp_path / "net")
    save(tmp_path / "net", net, *images[2:])
    out = subprocess.run([ripc, "eval", "net.json", "--target", target, "--input", "net_x.npy", "--labels", "net_y.npy", "--expect",
                          "net_logits.npy", "--tol", "0", "--json"], cwd=tmp_path, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr
    got = json.loads(out.stdout)
    assert got["images"] == 360 and got["difference"]["worst"] == 0 and got["right"]["top1"] == right(net, *images[2:])


@pytest.mark.parametrize("target", ["host", "rpi3"])
@pytest.mark.parametrize("encoding,bits", KINDS)
def test_digits_compiled(images, tmp_path, encoding, bits, target):
    deterministic(bits)
    net = network(bits, encoding)
    train(net, *images[:2], epochs=1)
    compiled(tmp_path, net, images, target)


@pytest.mark.parametrize("target", ["host", "rpi3"])
@pytest.mark.parametrize("build", [fixtures.patterns, fixtures.reactnet, fixtures.quantizers, fixtures.shortcuts])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_layers_compiled(images, tmp_path, build, seed, target):
    deterministic(seed)
    net = build()
    train(net, images[0][:256], images[1][:256], epochs=1)
    with torch.no_grad():  # numbers that training does not reach in so short a time
        for name, p in net.named_parameters():
            if not name.endswith("latent"):
                p += torch.randn_like(p) * 0.3
    compiled(tmp_path, net, images, target)
