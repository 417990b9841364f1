"""Three networks by the names that PyTorch and tandem share: `make(torch)` gives {name: (module, inputs)}."""


def make(torch):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, planes_in, planes, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(planes_in, planes, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(planes)
            self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(planes)
            self.downsample = None
            if stride != 1 or planes_in != planes:
                self.downsample = nn.Sequential(nn.Conv2d(planes_in, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + (x if self.downsample is None else self.downsample(x)))

    class ResNet18(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
            self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
            self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
            self.layer4 = nn.Sequential(Block(256, 512, 2), Block(512, 512, 1))
            self.fc = nn.Linear(512, 1000)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)

        def forward(self, x):
            batch, time, width = x.shape
            q, k, v = (part.view(batch, time, self.heads, width // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(batch, time, width))

    class GptBlock(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention(width, heads)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.ln1(x))
            return x + self.mlp(self.ln2(x))

    class Gpt(nn.Module):
        def __init__(self, tokens=128, width=64, layers=2, time=32):
            super().__init__()
            self.tokens, self.places = nn.Embedding(tokens, width), nn.Embedding(time, width)
            self.blocks = nn.ModuleList([GptBlock(width, 4) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)

        def forward(self, x):
            y = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
            for block in self.blocks:
                y = block(y)
            return self.head(self.norm(y))

    class Translator(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.transformer = nn.Transformer(width, 4, 2, 2, 64, dropout=0.0, batch_first=True)
            self.head = nn.Linear(width, 10)

        def forward(self, source, target):
            return self.head(self.transformer(source, target))

    torch.manual_seed(1)
    return {
        "resnet18": (ResNet18(), (torch.randn(2, 3, 64, 64),)),
        "gpt": (Gpt(), (torch.randint(0, 128, (2, 16)),)),
        "transformer": (Translator(), (torch.randn(2, 7, 32), torch.randn(2, 5, 32))),
    }
