"""Layers that networks of pictures are made from."""

from tandem import _C, nn


class FrozenBatchNorm2d(nn.Module):
    """BatchNorm2d whose statistics and factors are buffers that stay as they are."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, value in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, _C.full((num_features,), value))

    def forward(self, x):
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        return x * scale.reshape(1, -1, 1, 1) + (self.bias - self.running_mean * scale).reshape(1, -1, 1, 1)

    def __repr__(self):
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


class Conv2dNormActivation(nn.Sequential):
    """A convolution that keeps the size but for its stride, a norm and an activation; either of them may be None."""

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=nn.BatchNorm2d,
        activation_layer=nn.ReLU,
        dilation=1, inplace=True, bias=None,
    ):
        if padding is None:
            sizes, steps = ((value, value) if isinstance(value, int) else tuple(value) for value in (kernel_size, dilation))
            padding = tuple((size - 1) // 2 * step for size, step in zip(sizes, steps))
            padding = padding[0] if isinstance(kernel_size, int) and isinstance(dilation, int) else padding
        bias = norm_layer is None if bias is None else bias
        layers = [nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels


class SqueezeExcitation(nn.Module):
    """Channels times factors between 0 and 1, which two 1x1 convolutions find from their means (Hu et al., 2018)."""

    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input))))) * input


class MLP(nn.Sequential):
    """Full layers of these sizes, with a norm, an activation and dropout after each; after the last one only dropout."""

    def __init__(self, in_channels, hidden_channels, norm_layer=None, activation_layer=nn.ReLU, inplace=None, bias=True, dropout=0.0):
        options = {} if inplace is None else {"inplace": inplace}
        layers = []
        for channels in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, channels, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(channels))
            layers += [activation_layer(**options), nn.Dropout(dropout, **options)]
            in_channels = channels
        super().__init__(*layers, nn.Linear(in_channels, hidden_channels[-1], bias=bias), nn.Dropout(dropout, **options))


class Permute(nn.Module):
    """The dimensions in another order."""

    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return _C.permute(x, self.dims)
