"""The networks of Simonyan and Zisserman (Very Deep Convolutional Networks, 2014), with torchvision's names of parameters."""

from tandem import nn
from tandem.torch_compat.torchvision.models._weights import filled, weights_enum

# Channels of the 3x3 convolutions; "M" halves the picture.
_LAYERS = {
    11: [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    13: [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    16: [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
    19: [64, 64, "M", 128, 128, "M", 256, 256, 256, 256, "M", 512, 512, 512, 512, "M", 512, 512, 512, 512, "M"],
}
_FILES = {
    "11": "vgg11-8a719046", "13": "vgg13-19584684", "16": "vgg16-397923af", "19": "vgg19-dcbb9e9d",
    "11_BN": "vgg11_bn-6002323d", "13_BN": "vgg13_bn-abd245e5", "16_BN": "vgg16_bn-6c64b313", "19_BN": "vgg19_bn-c79401a0",
}


class VGG(nn.Module):
    """Pictures (number, 3, height, width) to scores of classes: convolutions, then three full layers."""

    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(p=dropout), nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            for module in self.modules():
                self._start(module)

    @staticmethod
    def _start(module):
        """The numbers that training begins with."""
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, 0.01)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def make_layers(cfg, batch_norm=False):
    """The convolutions, of a list of channels with "M" where the picture is halved."""
    layers, channels = [], 3
    for step in cfg:
        if step == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(channels, step, kernel_size=3, padding=1))
        layers += [nn.BatchNorm2d(step)] * batch_norm + [nn.ReLU(inplace=True)]
        channels = step
    return nn.Sequential(*layers)


def _builder(depth, batch_norm, names):
    def build(*, weights=None, progress=True, pretrained=False, **options):
        def make(init_weights=weights is None and not pretrained, **more):
            return VGG(make_layers(_LAYERS[depth], batch_norm), init_weights=init_weights, **more)

        return filled(make, names, weights, pretrained, progress, options)

    build.__name__ = build.__qualname__ = f"vgg{depth}" + "_bn" * batch_norm
    build.__doc__ = f"The network of {depth} layers{' with batch normalization' * batch_norm}. weights: of {names.__name__}, or its name."
    return build


for _name, _file in _FILES.items():
    _weights = globals()[f"VGG{_name}_Weights"] = weights_enum(f"VGG{_name}", __name__, _file)
    _depth, _, _bn = _name.partition("_")
    globals()[f"vgg{_name.lower()}"] = _builder(int(_depth), bool(_bn), _weights)

__all__ = ["VGG", *(f"vgg{_name.lower()}" for _name in _FILES), *(f"VGG{_name}_Weights" for _name in _FILES)]
