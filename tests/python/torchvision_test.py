"""torch_compat's stand-in for torchvision: datasets from their files, transforms of pictures and tensors, grids, networks."""

import gzip
import os
import pickle
import struct
import tempfile
import unittest

os.environ.setdefault("TANDEM_QUIET", "1")

import tandem.torch_compat  # noqa: E402, F401

import torch  # noqa: E402
from torchvision import datasets, transforms  # noqa: E402


def read_text(path):
    with open(path) as file:
        return file.read()


def write_idx(path, sizes, data):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "wb") as file:
        file.write(struct.pack(f">BBBB{len(sizes)}I", 0, 0, 8, len(sizes), *sizes) + bytes(data))


class Datasets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_mnist_from_its_files(self):
        raw = os.path.join(self.folder, "MNIST", "raw")
        os.makedirs(raw)
        write_idx(os.path.join(raw, "train-images-idx3-ubyte"), [3, 2, 2], range(0, 120, 10))
        write_idx(os.path.join(raw, "train-labels-idx1-ubyte"), [3], [7, 0, 9])
        with self.assertRaisesRegex(RuntimeError, "Dataset not found. You can use download=True to download it"):
            datasets.MNIST(self.folder)
        write_idx(os.path.join(raw, "t10k-images-idx3-ubyte.gz"), [1, 2, 2], [255, 0, 0, 51])
        write_idx(os.path.join(raw, "t10k-labels-idx1-ubyte.gz"), [1], [4])
        train = datasets.MNIST(self.folder, download=True)
        self.assertEqual(train.data.shape, (3, 2, 2))
        self.assertEqual(train.targets.tolist(), [7, 0, 9])
        picture, label = train[1]
        self.assertEqual((picture.size, picture.mode, picture.getpixel((1, 0)), label), ((2, 2), "L", 50, 0))
        test = datasets.MNIST(self.folder, train=False, transform=transforms.ToTensor(), target_transform=lambda label: label + 1)
        pixels, label = test[0]
        self.assertTrue(torch.allclose(pixels, torch.tensor([[[1, 0], [0, 0.2]]])))
        self.assertEqual(label, 5)
        parts = [
            "Dataset MNIST",
            "Number of datapoints: 1",
            f"Root location: {self.folder}",
            "Split: Test",
            "StandardTransform",
            "Transform: ToTensor()",
        ]
        self.assertEqual(repr(test), "\n    ".join([*parts, f"Target transform: {test.target_transform!r}"]))
        images, labels = next(iter(torch.utils.data.DataLoader(datasets.MNIST(self.folder, transform=transforms.ToTensor()), batch_size=3)))
        self.assertEqual((images.shape, labels.tolist()), ((3, 1, 2, 2), [7, 0, 9]))

    def test_a_damaged_file_is_named(self):
        from tandem.torch_compat.torchvision.datasets.mnist import read_idx

        path = os.path.join(self.folder, "x-idx1-ubyte")
        write_idx(path, [5], [1, 2, 3])
        with self.assertRaisesRegex(RuntimeError, "x-idx1-ubyte: the sizes .5. want 5 bytes, and there are 3"):
            read_idx(path)

    def test_no_network_says_where_files_belong(self):
        from tandem.torch_compat.torchvision.datasets.files import download

        path = os.path.join(self.folder, "raw", "images.gz")
        with self.assertRaisesRegex(RuntimeError, "Error downloading images.gz.*put the file at .*images.gz"):
            download(["http://127.0.0.1:9/images.gz"], path, "0")
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_cifar_from_its_batches(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        batches = os.path.join(self.folder, "cifar-10-batches-py")
        os.makedirs(batches)
        for number, name in enumerate([*datasets.CIFAR10.train_list, "test_batch"]):
            pixels = numpy.zeros((2, 3072), dtype=numpy.uint8)
            pixels[1, 1024] = 200 + number  # green, top left
            with open(os.path.join(batches, name), "wb") as file:
                pickle.dump({"data": pixels, "labels": [number, 9]}, file)
        with open(os.path.join(batches, "batches.meta"), "wb") as file:
            pickle.dump({"label_names": list("abcdefghij")}, file)
        train = datasets.CIFAR10(self.folder, transform=transforms.ToTensor())
        self.assertEqual((len(train), train.targets[:4], train.class_to_idx["c"]), (10, [0, 9, 1, 9], 2))
        pixels, label = train[3]
        self.assertEqual((pixels.shape, label), ((3, 32, 32), 9))
        self.assertAlmostEqual(pixels[1, 0, 0].item(), 201 / 255, places=6)
        self.assertAlmostEqual(pixels.sum().item(), 201 / 255, places=6)
        with open(os.path.join(batches, "test_batch"), "wb") as file:
            file.write(b"cos\nsystem\n(S'exit 1'\ntR.")
        with self.assertRaisesRegex(pickle.UnpicklingError, "os.system"):
            datasets.CIFAR10(self.folder, train=False)

    def test_folders_are_classes(self):
        for name in ("b/2.txt", "b/1.txt", "a/deep/3.txt", "a/skip.md"):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(name)
        found = datasets.DatasetFolder(self.folder, read_text, (".txt",))
        self.assertEqual((found.classes, found.targets, found[1]), (["a", "b"], [0, 1, 1], ("b/1.txt", 1)))
        with self.assertRaisesRegex(FileNotFoundError, "Found no valid file for the classes a, b."):
            datasets.ImageFolder(self.folder)

    def test_fake_data_is_the_same_each_time(self):
        data = datasets.FakeData(4, (1, 5, 6), transform=transforms.ToTensor())
        self.assertEqual(data[2][0].shape, (1, 5, 6))
        self.assertTrue(torch.equal(data[2][0], data[2][0]))
        self.assertFalse(torch.equal(data[1][0], data[2][0]))
        with self.assertRaises(IndexError):
            data[4]


class Models(unittest.TestCase):
    def test_residual_networks(self):
        from torchvision.models import resnet18, resnet50

        for build, parameters in ((resnet18, 11_689_512), (resnet50, 25_557_032)):
            model = build()
            self.assertEqual(sum(p.numel() for p in model.parameters()), parameters)
        self.assertIn("layer2.0.downsample.0.weight", model.state_dict())
        small = resnet18(num_classes=3).eval()
        self.assertEqual(small(torch.zeros(1, 3, 32, 32)).shape, (1, 3))


class Transforms(unittest.TestCase):
    def setUp(self):
        self.image = torch.arange(24, dtype=torch.float32).reshape(1, 4, 6)

    def test_crops_and_margins(self):
        self.assertEqual(transforms.CenterCrop(2)(self.image).tolist(), [[[8, 9], [14, 15]]])
        self.assertEqual(transforms.CenterCrop((6, 2))(self.image)[0, :, 0].tolist(), [0, 2, 8, 14, 20, 0])
        self.assertEqual(transforms.Pad((1, 0))(self.image)[0, 1].tolist(), [0, 6, 7, 8, 9, 10, 11, 0])
        self.assertEqual(transforms.Pad((2, 0, 0, 0), padding_mode="reflect")(self.image)[0, 0].tolist(), [2, 1, 0, 1, 2, 3, 4, 5])
        self.assertEqual(transforms.Pad((2, 0, 0, 0), padding_mode="symmetric")(self.image)[0, 0].tolist(), [1, 0, 0, 1, 2, 3, 4, 5])
        for _ in range(5):
            part = transforms.RandomCrop((2, 3))(self.image)[0]
            self.assertEqual((part.shape, (part[1] - part[0]).tolist()), ((2, 3), [6, 6, 6]))
        with self.assertRaisesRegex(ValueError, "Required crop size .5, 5. is larger than input image size .4, 6."):
            transforms.RandomCrop(5)(self.image)

    def test_flips_turns_and_sizes(self):
        self.assertTrue(torch.equal(transforms.RandomHorizontalFlip(1.0)(self.image), self.image.flip(-1)))
        self.assertTrue(torch.equal(transforms.RandomHorizontalFlip(0.0)(self.image), self.image))
        square = self.image[:, :, :4]
        self.assertTrue(torch.equal(transforms.functional.rotate(square, 90), torch.rot90(square, 1, (1, 2))))
        self.assertEqual(transforms.Resize((2, 3))(self.image).shape, (1, 2, 3))
        self.assertEqual(transforms.Resize(8)(self.image).shape, (1, 8, 12))
        constant = torch.full((3, 9, 7), 90, dtype=torch.uint8)
        self.assertTrue(bool((transforms.Resize((4, 4))(constant) == 90).all()))

    def test_pictures_and_tensors(self):
        bytes_ = torch.tensor([[[0, 51], [255, 102]]] * 3, dtype=torch.uint8)
        picture = transforms.ToPILImage()(bytes_)
        self.assertEqual((picture.size, picture.mode, picture.getpixel((1, 0))), ((2, 2), "RGB", (51, 51, 51)))
        self.assertTrue(torch.allclose(transforms.ToTensor()(picture), bytes_.float() / 255))
        self.assertEqual(transforms.PILToTensor()(transforms.Grayscale()(picture)).tolist(), [[[0, 51], [255, 102]]])
        self.assertEqual(transforms.RandomHorizontalFlip(1.0)(picture).getpixel((0, 0)), (51, 51, 51))
        with self.assertRaisesRegex(TypeError, "pic should be PIL Image or ndarray. Got <class 'str'>"):
            transforms.ToTensor()("picture")

    def test_normalize(self):
        made = transforms.Normalize([1.0], [2.0])(self.image)
        self.assertEqual(made[0, 0].tolist(), [-0.5, 0, 0.5, 1, 1.5, 2])
        with self.assertRaisesRegex(TypeError, "Input tensor should be a float tensor. Got torch.uint8."):
            transforms.Normalize([1.0], [2.0])(torch.zeros(1, 2, 2, dtype=torch.uint8))
        with self.assertRaisesRegex(ValueError, "std evaluated to zero"):
            transforms.Normalize([1.0], [0.0])(self.image)

    def test_grids_and_files(self):
        from torchvision.utils import make_grid, save_image

        grid = make_grid(torch.arange(3.0).reshape(3, 1, 1, 1), nrow=2, padding=1, pad_value=9)
        self.assertEqual(grid[0].tolist(), [[9, 9, 9, 9, 9], [9, 0, 9, 1, 9], [9, 9, 9, 9, 9], [9, 2, 9, 9, 9], [9, 9, 9, 9, 9]])
        self.assertEqual(make_grid(torch.tensor([[[[2.0, 4.0]]], [[[3.0, 2.0]]]]), padding=0, normalize=True)[0].tolist(), [[0, 1, 0.5, 0]])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grid.png")
            save_image(torch.rand(4, 3, 8, 8), path)
            with open(path, "rb") as file:
                data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (4 * 10 + 2, 12))

    def test_warps_and_blurs_are_torchvisions(self):
        """Sizes and sums of what torchvision 0.29 gives for these bytes and seeds."""
        generator = torch.Generator().manual_seed(0)
        pixels = torch.randint(0, 256, (3, 23, 31), generator=generator, dtype=torch.uint8)
        f, mode = transforms.functional, transforms.InterpolationMode.BILINEAR
        changes = (
            transforms.RandomAffine(30), transforms.RandomAffine(20, translate=(0.1, 0.2), scale=(0.8, 1.2), shear=10),
            transforms.RandomAffine((10, 20), shear=(1, 5, 2, 8), interpolation=mode, fill=9), transforms.GaussianBlur(5),
            transforms.GaussianBlur((3, 7), sigma=(0.5, 1.5)), transforms.RandomRotation(40, expand=True, fill=3),
            transforms.RandomRotation(40, interpolation=mode, center=(3, 4)), lambda img: f.rotate(img, 33, mode, expand=True),
            lambda img: f.affine(img, -20, (3, -2), 1.3, (4, 7), mode, fill=[1, 2, 3], center=(5, 6)), lambda img: f.gaussian_blur(img, [3, 5]),
        )
        wanted = (
            ((3, 23, 31), 268621), ((3, 23, 31), 259518), ((3, 23, 31), 241176), ((3, 23, 31), 268621),
            ((3, 23, 31), 268408), ((3, 35, 39), 271758), ((3, 23, 31), 244453), ((3, 37, 39), 268262),
            ((3, 23, 31), 222240), ((3, 23, 31), 268513),
        )
        for i, (change, expected) in enumerate(zip(changes, wanted, strict=True)):
            torch.manual_seed(i)
            made = change(pixels)
            self.assertEqual((tuple(made.shape), made.dtype, int(made.long().sum())), (expected[0], torch.uint8, expected[1]), i)
        self.assertEqual(f.rotate(pixels, 45, interpolation=2).tolist(), f.rotate(pixels, 45, mode).tolist())
        for wrong in (
            lambda: transforms.GaussianBlur(4), lambda: transforms.GaussianBlur(3, (2, 1)), lambda: transforms.RandomAffine(-1),
            lambda: transforms.RandomAffine(1, translate=(2, 0)), lambda: transforms.RandomAffine(1, scale=(0, 1)), lambda: transforms.RandomAffine(1, shear=(1, 2, 3)),
            lambda: f.gaussian_blur(pixels, 2), lambda: f.affine(pixels, 0, (0, 0), 0, 0), lambda: f.affine(pixels, 0, (0,), 1, 0),
            lambda: f.affine(pixels, 0, (0, 0), 1, (1, 2, 3)), lambda: transforms.GaussianBlur((3, 5, 7)), lambda: transforms.GaussianBlur(3, (1, 2, 3)),
        ):
            self.assertRaises(ValueError, wrong)

    def test_pictures_of_pil_are_pils_own_work(self):
        try:
            from PIL import Image, ImageEnhance
        except ImportError:
            self.skipTest("needs Pillow")
        torch.manual_seed(0)
        picture = Image.frombytes("RGB", (31, 23), bytes(torch.randint(0, 256, (23 * 31 * 3,), dtype=torch.uint8).tolist()))
        nearest = transforms.InterpolationMode.NEAREST
        f = transforms.functional
        for ours, theirs in (
            (transforms.Resize((20, 17))(picture), picture.resize((17, 20), 2)),
            (transforms.Resize((20, 17), nearest)(picture), picture.resize((17, 20), 0)),
            (transforms.Grayscale()(picture), picture.convert("L")),
            (transforms.Grayscale(3)(picture), picture.convert("L").convert("RGB")),
            (f.rotate(picture, 30), picture.rotate(30)),
            (f.rotate(picture, 30, transforms.InterpolationMode.BILINEAR, expand=True, fill=7), picture.rotate(30, 2, True, fillcolor=(7, 7, 7))),
            (f.adjust_brightness(picture, 1.5), ImageEnhance.Brightness(picture).enhance(1.5)),
            (f.adjust_contrast(picture, 0.5), ImageEnhance.Contrast(picture).enhance(0.5)),
            (f.adjust_saturation(picture, 2.0), ImageEnhance.Color(picture).enhance(2.0)),
        ):
            self.assertEqual((ours.mode, ours.size, ours.tobytes()), (theirs.mode, theirs.size, theirs.tobytes()))
        self.assertEqual(f.adjust_hue(picture, 0.0).tobytes(), picture.convert("HSV").convert("RGB").tobytes())


class Features(unittest.TestCase):
    def test_names(self):
        from torchvision.models import resnet18
        from torchvision.models.feature_extraction import get_graph_node_names

        train, evaluation = get_graph_node_names(resnet18())
        self.assertEqual(train, evaluation)
        self.assertEqual(len(train), 70)
        self.assertEqual(train[:11], [
            "x", "conv1", "bn1", "relu", "maxpool", "layer1.0.conv1", "layer1.0.bn1", "layer1.0.relu", "layer1.0.conv2", "layer1.0.bn2",
            "layer1.0.add",
        ])  # fmt: skip
        self.assertEqual(train[-4:], ["layer4.1.relu_1", "avgpool", "flatten", "fc"])

    def test_features(self):
        from torchvision.models import resnet18
        from torchvision.models.feature_extraction import create_feature_extractor

        model = resnet18().eval()
        features = create_feature_extractor(model, {"layer1": "first", "layer4.1.relu_1": "last", "flatten": "flat"})
        x = torch.rand(1, 3, 64, 64)
        with torch.no_grad():
            found, wanted = features(x), model(x)
        self.assertEqual({key: tuple(value.shape) for key, value in found.items()}, {"first": (1, 64, 16, 16), "last": (1, 512, 2, 2), "flat": (1, 512)})
        self.assertTrue(torch.allclose(model.fc(found["flat"]), wanted, atol=1e-5))
        self.assertIs(features.conv1, model.conv1)
        self.assertEqual([name for name, _ in features.named_children()][-2:], ["layer4", "avgpool"])
        self.assertFalse(hasattr(features, "fc"))
        self.assertTrue(features.train().training and features.bn1.training)
        self.assertEqual(list(create_feature_extractor(model, ["layer1", "fc"])(x)), ["layer1", "fc"])
        with self.assertRaisesRegex(ValueError, "node: 'nothing' is not present in model"):
            create_feature_extractor(model, ["nothing"])

    def test_modes(self):
        from torchvision.models.feature_extraction import create_feature_extractor

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 3)

            def forward(self, x):
                return self.b(self.a(x)) + torch.ones(3) if self.training else self.a(x)

        model = Model()
        model.a.eval()
        features = create_feature_extractor(model, train_return_nodes=["add"], eval_return_nodes=["a"])
        self.assertEqual((model.training, model.a.training), (True, False))
        x = torch.ones(1, 2)
        self.assertEqual([list(features.train()(x)), list(features.eval()(x)), list(features.train()(x))], [["add"], ["a"], ["add"]])


if __name__ == "__main__":
    unittest.main()
