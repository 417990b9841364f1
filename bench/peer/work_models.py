"""The networks of bench/work_cases.cpp in PyTorch, with the same names of their parts: what changes there changes here."""

import torch
import torch.nn.functional as F
from torch import nn

RATE = 1e-6


def cnn():
    return nn.Sequential(nn.Conv2d(3, 50, 3, padding=1), nn.ReLU(), nn.Conv2d(50, 50, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Dropout(0),
                         nn.Conv2d(50, 100, 3, padding=1), nn.ReLU(), nn.Conv2d(100, 100, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(), nn.Dropout(0),
                         nn.Flatten(), nn.Linear(6400, 512), nn.ReLU(), nn.Dropout(0), nn.Linear(512, 10))


class TextGru(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30000, 125)
        self.gru = nn.GRU(125, 100, batch_first=True)
        self.output = nn.Linear(100, 2)

    def forward(self, tokens):
        return self.output(self.gru(self.embedding(tokens))[0][:, -1])


class Bottleneck(nn.Module):
    def __init__(self, channels, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, 4 * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * planes)
        self.downsample = None
        if channels != 4 * planes:
            self.downsample = nn.Sequential(nn.Conv2d(channels, 4 * planes, 1, stride, bias=False), nn.BatchNorm2d(4 * planes))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    """Without its last layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for number, blocks in enumerate((3, 4, 6, 3)):
            planes, layer = 64 << number, nn.Sequential()
            for block in range(blocks):
                layer.append(Bottleneck(channels, planes, 2 if number > 0 and block == 0 else 1))
                channels = 4 * planes
            setattr(self, f"layer{number + 1}", layer)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        y = self.layer4(self.layer3(self.layer2(self.layer1(y))))
        return torch.flatten(F.adaptive_avg_pool2d(y, 1), 1)


class DenseLayer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, 128, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(128)
        self.conv2 = nn.Conv2d(128, 32, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv2(F.relu(self.norm2(self.conv1(F.relu(self.norm1(x))))))], 1)


class Transition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, channels // 2, 1, bias=False)

    def forward(self, x):
        return F.avg_pool2d(self.conv(F.relu(self.norm(x))), 2)


class DenseNet121(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(3, 64, 7, 2, 3, bias=False))
        self.features.add_module("norm0", nn.BatchNorm2d(64))
        self.features.add_module("relu0", nn.ReLU())
        self.features.add_module("pool0", nn.MaxPool2d(3, 2, 1))
        channels = 64
        for number, layers in enumerate((6, 12, 24, 16), 1):
            block = nn.Sequential()
            for layer in range(layers):
                block.add_module(f"denselayer{layer + 1}", DenseLayer(channels))
                channels += 32
            self.features.add_module(f"denseblock{number}", block)
            if number < 4:
                self.features.add_module(f"transition{number}", Transition(channels))
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, 14)

    def forward(self, x):
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(F.relu(self.features(x)), 1), 1))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                         nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10))


class Residual(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        stride = 1 if channels == out else 2
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(out)
        self.bn2 = nn.BatchNorm2d(out)
        self.conv3 = None if channels == out else nn.Sequential(nn.Conv2d(channels, out, 1, stride))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.conv3 is None else self.conv3(x)))


def resnet18():
    net = nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
    channels = 64
    for out in (64, 128, 256, 512):
        net.append(nn.Sequential(Residual(channels, out), Residual(out, out)))
        channels = out
    return net.extend([nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)])


def transformer():
    return nn.TransformerEncoderLayer(256, 8, dim_feedforward=1024, dropout=0, batch_first=True)


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, bias=False)
        self.norm2 = nn.LayerNorm(width, bias=False)
        self.attention_in = nn.Linear(width, 3 * width, bias=False)
        self.attention_out = nn.Linear(width, width, bias=False)
        self.widen = nn.Linear(width, 4 * width, bias=False)
        self.narrow = nn.Linear(4 * width, width, bias=False)
        self.heads = heads

    def forward(self, x):
        query, key, value = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.attention_in(self.norm1(x)).chunk(3, 2))
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        y = x + self.attention_out(seen.transpose(1, 2).flatten(2))
        return y + self.narrow(F.gelu(self.widen(self.norm2(y))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(65, 384)
        self.places = nn.Embedding(256, 384)
        self.blocks = nn.Sequential(*[GptBlock(384, 6) for _ in range(6)])
        self.norm = nn.LayerNorm(384, bias=False)

    def forward(self, x):
        embedded = self.tokens(x) + self.places(torch.arange(x.size(1)))
        return F.linear(self.norm(self.blocks(embedded)), self.tokens.weight)


def two_convolutions(channels, out):
    return nn.Sequential(nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                         nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([two_convolutions(3, 16), two_convolutions(16, 32), two_convolutions(32, 64)])
        self.bottom = two_convolutions(64, 128)
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * out, out, 2, 2) for out in (64, 32, 16)])
        self.join = nn.ModuleList([two_convolutions(2 * out, out) for out in (64, 32, 16)])
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            kept.append(level(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.bottom(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=RATE)


def sgd_with_momentum(parameters):
    return torch.optim.SGD(parameters, lr=RATE, momentum=0.9)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=RATE)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=RATE)


def findings_loss(output, target):
    return F.binary_cross_entropy(torch.sigmoid(output), target)


def next_token_loss(output, target):
    return F.cross_entropy(output.flatten(0, 1), target.flatten())


# name: network; for training its loss and its optimizer
CASES = {
    "cnn_step": (cnn, F.cross_entropy, sgd_with_momentum),
    "gru_step": (TextGru, F.cross_entropy, adam),
    "gru_infer": (TextGru,),
    "resnet50_infer": (ResNet50,),
    "densenet121_step": (DenseNet121, findings_loss, adam),
    "lenet_step": (lenet, F.cross_entropy, sgd),
    "resnet18_step": (resnet18, F.cross_entropy, sgd),
    "transformer_step": (transformer, F.mse_loss, adam),
    "gpt_step": (Gpt, next_token_loss, adamw),
    "unet_step": (UNet, F.binary_cross_entropy_with_logits, adam),
    "mlp_step": (mlp, F.cross_entropy, adam),
    "mlp_one": (mlp,),
}
