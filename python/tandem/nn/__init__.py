"""Neural networks: modules, layers, losses, first values and functions. As torch.nn."""

from tandem.nn import functional, init, modules, parameter, utils  # noqa: F401
from tandem.nn.modules.activation import (  # noqa: F401
    CELU,
    ELU,
    GELU,
    GLU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    MultiheadAttention,
    PReLU,
    RReLU,
    ReLU,
    ReLU6,
    SELU,
    SiLU,
    Sigmoid,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from tandem.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss  # noqa: F401
from tandem.nn.modules.batchnorm import (  # noqa: F401
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    SyncBatchNorm,
)
from tandem.nn.modules.channelshuffle import ChannelShuffle  # noqa: F401
from tandem.nn.modules.container import Container, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential  # noqa: F401
from tandem.nn.modules.conv import (  # noqa: F401
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
from tandem.nn.modules.distance import CosineSimilarity, PairwiseDistance  # noqa: F401
from tandem.nn.modules.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout  # noqa: F401
from tandem.nn.modules.flatten import Flatten, Unflatten  # noqa: F401
from tandem.nn.modules.fold import Fold, Unfold  # noqa: F401
from tandem.nn.modules.fractional import FractionalMaxPool2d, FractionalMaxPool3d  # noqa: F401
from tandem.nn.modules.instancenorm import (  # noqa: F401
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
)
from tandem.nn.modules.linear import Bilinear, Identity, LazyLinear, Linear  # noqa: F401
from tandem.nn.modules.linear_loss import LinearCrossEntropyLoss  # noqa: F401
from tandem.nn.modules.loss import (  # noqa: F401
    BCELoss,
    BCEWithLogitsLoss,
    CTCLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    NLLLoss2d,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from tandem.nn.modules.module import Module  # noqa: F401
from tandem.nn.modules.normalization import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm  # noqa: F401
from tandem.nn.modules.padding import (  # noqa: F401
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from tandem.nn.modules.pixelshuffle import PixelShuffle, PixelUnshuffle  # noqa: F401
from tandem.nn.modules.pooling import (  # noqa: F401
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from tandem.nn.modules.rnn import GRU, GRUCell, LSTM, LSTMCell, RNN, RNNBase, RNNCell, RNNCellBase  # noqa: F401
from tandem.nn.modules.sparse import Embedding, EmbeddingBag  # noqa: F401
from tandem.nn.modules.transformer import (  # noqa: F401
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from tandem.nn.modules.upsampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d  # noqa: F401
from tandem.nn.modules.utils import own_constructor as _own_constructor
from tandem.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401

for _layer in [value for value in globals().values() if isinstance(value, type) and issubclass(value, Module)]:
    _own_constructor(_layer)
del _layer


def __getattr__(name):
    """`parallel`, DataParallel, `attention` and `grad`, which are loaded when they are asked for."""
    import importlib

    if name in ("attention", "grad", "parallel"):
        return importlib.import_module(f"tandem.nn.{name}")
    if name == "DataParallel":
        return importlib.import_module("tandem.nn.parallel").DataParallel
    raise AttributeError(f"module 'tandem.nn' has no attribute '{name}'")
