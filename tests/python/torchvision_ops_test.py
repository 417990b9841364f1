"""torch_compat's stand-in for torchvision: operators on rectangles, layers, VGG, names of weights, and hues."""

import colorsys
import os
import tempfile
import unittest
import unittest.mock

os.environ.setdefault("TANDEM_QUIET", "1")

import tandem.torch_compat  # noqa: E402, F401

import torch  # noqa: E402
from torchvision import models, ops, transforms  # noqa: E402
from torchvision.transforms import functional as F  # noqa: E402

BOXES = [[0.0, 0, 2, 2], [1, 1, 3, 3], [0, 0, 2, 1], [5, 5, 6, 6]]


class Boxes(unittest.TestCase):
    def setUp(self):
        self.boxes = torch.tensor(BOXES)

    def test_overlaps(self):
        self.assertEqual(ops.box_area(self.boxes).tolist(), [4, 4, 2, 1])
        found = ops.box_iou(self.boxes[:1], self.boxes)
        self.assertTrue(torch.allclose(found, torch.tensor([[1, 1 / 7, 0.5, 0]])))
        # Around the first two lie 9, of which they cover 7; around the first and the last 36, of which they cover 5.
        found = ops.generalized_box_iou(self.boxes[:1], self.boxes)
        self.assertTrue(torch.allclose(found, torch.tensor([[1, 1 / 7 - 2 / 9, 0.5, -31 / 36]])))
        self.assertTrue(torch.allclose(ops.box_iou(self.boxes.long()[:1], self.boxes.long())[0, 1], torch.tensor(1 / 7)))

    def test_forms(self):
        box = torch.tensor([[1.0, 2.0, 4.0, 8.0]])
        self.assertEqual(ops.box_convert(box, "xyxy", "xywh").tolist(), [[1, 2, 3, 6]])
        self.assertEqual(ops.box_convert(box, "xyxy", "cxcywh").tolist(), [[2.5, 5, 3, 6]])
        for form in ("xywh", "cxcywh"):
            self.assertEqual(ops.box_convert(ops.box_convert(box, "xyxy", form), form, "xyxy").tolist(), box.tolist())
        self.assertEqual(ops.box_convert(torch.tensor([[2.5, 5, 3, 6]]), "cxcywh", "xywh").tolist(), [[1, 2, 3, 6]])
        with self.assertRaisesRegex(ValueError, "Unsupported Bounding Box Conversions for given in_fmt xyxy and out_fmt yx"):
            ops.box_convert(box, "xyxy", "yx")

    def test_edges(self):
        cut = ops.clip_boxes_to_image(torch.tensor([[-1.0, 2.0, 9.0, 8.0]]), (5, 7))
        self.assertEqual(cut.tolist(), [[0, 2, 7, 5]])
        self.assertEqual(ops.remove_small_boxes(self.boxes, 1.5).tolist(), [0, 1])

    def test_the_best_stay(self):
        scores = torch.tensor([0.5, 0.9, 0.7, 0.1])
        self.assertEqual(ops.nms(self.boxes, scores, 0.4).tolist(), [1, 2, 3])
        self.assertEqual(ops.nms(self.boxes, scores, 0.5).tolist(), [1, 2, 0, 3])  # as much as the threshold is not more
        self.assertEqual(ops.nms(self.boxes.cuda(), scores.cuda(), 0.1).tolist(), [1, 2, 3])
        self.assertEqual(ops.nms(self.boxes[:0], scores[:0], 0.5).tolist(), [])
        self.assertEqual(ops.batched_nms(self.boxes, scores, torch.tensor([0, 1, 1, 1]), 0.4).tolist(), [1, 2, 0, 3])
        with self.assertRaisesRegex(RuntimeError, "boxes should be a 2d tensor"):
            ops.nms(self.boxes[0], scores, 0.5)


class Layers(unittest.TestCase):
    def test_focal_loss(self):
        logits, targets = torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0])
        half = torch.log(torch.tensor(2.0)).item() / 4  # what is half right counts a quarter
        found = ops.sigmoid_focal_loss(logits, targets, alpha=0.25)
        self.assertTrue(torch.allclose(found, torch.tensor([0.25 * half, 0.75 * half])))
        self.assertAlmostEqual(ops.sigmoid_focal_loss(logits, targets, alpha=-1, reduction="sum").item(), 2 * half, places=6)
        with self.assertRaisesRegex(ValueError, "Invalid Value for arg 'reduction'"):
            ops.sigmoid_focal_loss(logits, targets, reduction="all")

    def test_stochastic_depth(self):
        x = torch.ones(200, 3)
        layer = ops.StochasticDepth(0.5, "row")
        rows = layer(x)
        self.assertTrue(all(row in ([0, 0, 0], [2, 2, 2]) for row in rows.tolist()))
        self.assertTrue(40 < (rows[:, 0] == 0).sum().item() < 160)
        self.assertIs(layer.eval()(x), x)
        self.assertEqual(ops.stochastic_depth(x, 1.0, "batch").sum().item(), 0)
        self.assertEqual(repr(layer), "StochasticDepth(p=0.5, mode=row)")
        with self.assertRaisesRegex(ValueError, "mode has to be either 'batch' or 'row', but got column"):
            ops.stochastic_depth(x, 0.5, "column")

    def test_blocks(self):
        block = ops.Conv2dNormActivation(3, 4, kernel_size=5, stride=2)
        self.assertEqual([type(part).__name__ for part in block], ["Conv2d", "BatchNorm2d", "ReLU"])
        self.assertEqual((block(torch.ones(1, 3, 8, 8)).shape, block[0].bias, block.out_channels), ((1, 4, 4, 4), None, 4))
        self.assertIsNotNone(ops.Conv2dNormActivation(3, 4, norm_layer=None)[0].bias)
        squeezed = ops.SqueezeExcitation(2, 1)
        for parameter in squeezed.parameters():
            torch.nn.init.zeros_(parameter)
        self.assertEqual(squeezed(torch.full((1, 2, 2, 2), 3.0)).unique().tolist(), [1.5])
        mlp = ops.MLP(3, [5, 2], norm_layer=torch.nn.LayerNorm, dropout=0.1)
        self.assertEqual([type(part).__name__ for part in mlp], ["Linear", "LayerNorm", "ReLU", "Dropout", "Linear", "Dropout"])
        self.assertEqual(ops.Permute([0, 2, 1])(torch.ones(1, 2, 3)).shape, (1, 3, 2))
        frozen = ops.FrozenBatchNorm2d(1, eps=0.0)
        frozen.running_mean.fill_(1.0)
        frozen.running_var.fill_(4.0)
        self.assertEqual(frozen(torch.full((1, 1, 1, 1), 5.0)).item(), 2)
        self.assertEqual(list(frozen.parameters()), [])
        with self.assertRaisesRegex(AttributeError, "module 'torchvision.ops' has no attribute 'roi_align'"):
            ops.roi_align


class Models(unittest.TestCase):
    def setUp(self):
        # What these networks begin with is a hundred million numbers by chance, and matters to no test here.
        for owner, name in ((torch.nn.Linear, "reset_parameters"), (torch.nn.init, "kaiming_normal_")):
            patch = unittest.mock.patch.object(owner, name, lambda *args, **kwargs: None)
            patch.start()
            self.addCleanup(patch.stop)

    def test_sizes(self):
        layers = models.vgg.make_layers(models.vgg._LAYERS[11], batch_norm=True)
        # 132,868,840 numbers with the full layers, 25,088 to 4,096 to 4,096 to 1,000.
        self.assertEqual(sum(parameter.numel() for parameter in layers.parameters()), 132_868_840 - 25_089 * 4096 - 4097 * 4096 - 4097 * 1000)
        self.assertEqual(sum(isinstance(part, torch.nn.Conv2d) for part in models.vgg.make_layers(models.vgg._LAYERS[19])), 16)
        model = models.vgg11(num_classes=2, init_weights=False).eval()
        self.assertEqual(list(model.state_dict())[:3], ["features.0.weight", "features.0.bias", "features.3.weight"])
        self.assertEqual(list(model.state_dict())[-2:], ["classifier.6.weight", "classifier.6.bias"])
        model.classifier = torch.nn.Linear(512 * 7 * 7, 2)
        self.assertEqual(model(torch.zeros(1, 3, 32, 32)).shape, (1, 2))

    def test_weights_have_names_and_no_files(self):
        names = models.VGG16_Weights
        self.assertIs(names.DEFAULT, names.IMAGENET1K_V1)
        self.assertEqual((repr(names.DEFAULT), models.ResNet50_Weights.DEFAULT.name), ("VGG16_Weights.IMAGENET1K_V1", "IMAGENET1K_V2"))
        self.assertEqual(names.DEFAULT.url, "https://download.pytorch.org/models/vgg16-397923af.pth")
        prepared = names.DEFAULT.transforms()(torch.zeros(3, 300, 400))
        self.assertEqual(prepared.shape, (3, 224, 224))
        self.assertAlmostEqual(prepared[0, 0, 0].item(), -0.485 / 0.229, places=5)
        with self.assertRaisesRegex(TypeError, "expected ResNet18_Weights but received VGG16_Weights"):
            models.resnet18(weights=names.DEFAULT)
        with self.assertRaises(KeyError):
            models.resnet18(weights="NO_SUCH")
        with self.assertRaisesRegex(ValueError, "The parameter 'num_classes' expected value 1000 but got 10 instead"):
            models.resnet18(weights="DEFAULT", num_classes=10)

    def test_weights_from_their_folder(self):
        before = torch.hub.get_dir()
        self.addCleanup(torch.hub.set_dir, before)
        with tempfile.TemporaryDirectory() as folder:
            torch.hub.set_dir(folder)
            os.makedirs(os.path.join(folder, "checkpoints"))
            model = models.resnet18()
            torch.save(model.state_dict(), os.path.join(folder, "checkpoints", "resnet18-f37072fd.pth"))
            found = models.resnet18(weights=models.ResNet18_Weights.DEFAULT)
            self.assertTrue(torch.equal(found.fc.weight, model.fc.weight))

    def test_by_name(self):
        self.assertEqual(models.list_models()[-1], "vgg19_bn")
        self.assertIsInstance(models.get_model("resnet18", num_classes=2), models.ResNet)
        with self.assertRaisesRegex(ValueError, "Unknown model alexnet"):
            models.get_model("alexnet")


class Hues(unittest.TestCase):
    def test_turned(self):
        for colour in ((1.0, 0.0, 0.0), (0.2, 0.9, 0.3), (0.1, 0.4, 0.35), (0.9, 0.8, 1.0), (0.5, 0.5, 0.5), (0.0, 0.0, 0.0)):
            hue, saturation, value = colorsys.rgb_to_hsv(*colour)
            for factor in (-0.5, -0.1, 0.0, 0.25, 0.5):
                wanted = torch.tensor(colorsys.hsv_to_rgb((hue + factor) % 1, saturation, value))
                found = F.adjust_hue(torch.tensor(colour).reshape(3, 1, 1), factor).flatten()
                self.assertTrue(torch.allclose(found, wanted, atol=1e-6), (colour, factor))
        red = torch.tensor([255, 0, 0], dtype=torch.uint8).reshape(3, 1, 1)
        self.assertEqual(F.adjust_hue(red, 1 / 3).flatten().tolist(), [0, 255, 0])
        gray = torch.ones(1, 2, 2)
        self.assertTrue(torch.equal(F.adjust_hue(gray, 0.3), gray))
        with self.assertRaisesRegex(ValueError, r"hue_factor \(0.6\) is not in \[-0.5, 0.5\]"):
            F.adjust_hue(red, 0.6)

    def test_jitter(self):
        self.assertEqual(repr(transforms.ColorJitter(0.5, hue=0.1)),
                         "ColorJitter(brightness=(0.5, 1.5), contrast=None, saturation=None, hue=(-0.1, 0.1))")
        always = transforms.ColorJitter(hue=(0.5, 0.5))
        self.assertEqual(always(torch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1)).flatten().tolist(), [0, 1, 1])
        torch.manual_seed(0)
        order, *factors = transforms.ColorJitter.get_params((0.5, 1.5), None, None, (-0.1, 0.1))
        torch.manual_seed(0)
        self.assertEqual(order.tolist(), torch.randperm(4).tolist())
        self.assertEqual(factors[0], torch.empty(1).uniform_(0.5, 1.5).item())
        self.assertEqual(factors[1:3], [None, None])
        with self.assertRaisesRegex(ValueError, "If contrast is a single number, it must be non negative"):
            transforms.ColorJitter(contrast=-1)
        with self.assertRaisesRegex(ValueError, "hue values should be between"):
            transforms.ColorJitter(hue=0.7)
        with self.assertRaisesRegex(TypeError, "saturation should be a single number or a list/tuple with length 2"):
            transforms.ColorJitter(saturation="much")


if __name__ == "__main__":
    unittest.main()
