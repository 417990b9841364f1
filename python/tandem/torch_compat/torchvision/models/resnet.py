"""Residual networks (He et al., Deep Residual Learning for Image Recognition, 2015), with torchvision's names of parameters."""

import functools

from tandem import nn
from tandem.torch_compat.torchvision.models._weights import filled, weights_enum

ResNet18_Weights = weights_enum("ResNet18", __name__, "resnet18-f37072fd")
ResNet34_Weights = weights_enum("ResNet34", __name__, "resnet34-b627a593")
ResNet50_Weights = weights_enum("ResNet50", __name__, "resnet50-0676ba61", "resnet50-11ad3fa6")
ResNet101_Weights = weights_enum("ResNet101", __name__, "resnet101-63fe2227", "resnet101-cd907fc2")
ResNet152_Weights = weights_enum("ResNet152", __name__, "resnet152-394f9c45", "resnet152-f82ba261")


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    """A 3x3 convolution that keeps the size, but for its stride."""
    return nn.Conv2d(in_planes, out_planes, 3, stride, padding=dilation, groups=groups, bias=False, dilation=dilation)


def conv1x1(in_planes, out_planes, stride=1):
    """A 1x1 convolution."""
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside the way around them."""

    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        self.conv1, self.bn1 = conv3x3(inplanes, planes, stride), norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2, self.bn2 = conv3x3(planes, planes), norm_layer(planes)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """A 3x3 convolution between two of 1x1, of fewer channels, beside the way around them."""

    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64)) * groups
        self.conv1, self.bn1 = conv1x1(inplanes, width), norm_layer(width)
        self.conv2, self.bn2 = conv3x3(width, width, stride, groups, dilation), norm_layer(width)
        self.conv3, self.bn3 = conv1x1(width, planes * self.expansion), norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """Pictures (number, 3, height, width) to scores of classes; layers: how many blocks each of the four stages has."""

    def __init__(self, block, layers, num_classes=1000, zero_init_residual=False, groups=1, width_per_group=64, norm_layer=None):
        super().__init__()
        self.inplanes, self.groups, self.base_width, self._norm_layer = 64, groups, width_per_group, norm_layer or nn.BatchNorm2d
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = self._norm_layer(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        for stage, count in enumerate(layers):
            setattr(self, f"layer{stage + 1}", self._make_layer(block, 64 * 2**stage, count, 1 if stage == 0 else 2))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif zero_init_residual and isinstance(module, (BasicBlock, Bottleneck)):
                nn.init.zeros_((module.bn3 if isinstance(module, Bottleneck) else module.bn2).weight)

    def _make_layer(self, block, planes, count, stride):
        """A stage: its first block may halve the picture."""
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(conv1x1(self.inplanes, planes * block.expansion, stride), self._norm_layer(planes * block.expansion))
        blocks = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, norm_layer=self._norm_layer)]
        self.inplanes = planes * block.expansion
        blocks += [
            block(self.inplanes, planes, groups=self.groups, base_width=self.base_width, norm_layer=self._norm_layer)
            for _ in range(count - 1)
        ]
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def _builder(depth, block, layers, names):
    def build(*, weights=None, progress=True, pretrained=False, **options):
        return filled(functools.partial(ResNet, block, layers), names, weights, pretrained, progress, options)

    build.__name__ = build.__qualname__ = f"resnet{depth}"
    build.__doc__ = f"The residual network of {depth} layers. weights: of {names.__name__}, or its name."
    return build


resnet18 = _builder(18, BasicBlock, [2, 2, 2, 2], ResNet18_Weights)
resnet34 = _builder(34, BasicBlock, [3, 4, 6, 3], ResNet34_Weights)
resnet50 = _builder(50, Bottleneck, [3, 4, 6, 3], ResNet50_Weights)
resnet101 = _builder(101, Bottleneck, [3, 4, 23, 3], ResNet101_Weights)
resnet152 = _builder(152, Bottleneck, [3, 8, 36, 3], ResNet152_Weights)
