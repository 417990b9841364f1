# Written by python/generate/stubs.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match"
from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Any, overload

from tandem._C import _Device, _DType, _dtype, _Number, _Shape
from math import (
    e as e,
    inf as inf,
    nan as nan,
    pi as pi,
)
from tandem import (
    accelerator as accelerator,
    amp as amp,
    array_api as array_api,
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    distributions as distributions,
    fft as fft,
    func as func,
    functional as functional,
    futures as futures,
    fx as fx,
    hub as hub,
    jit as jit,
    ledger as ledger,
    library as library,
    linalg as linalg,
    mps as mps,
    multiprocessing as multiprocessing,
    nn as nn,
    onnx as onnx,
    ops as ops,
    optim as optim,
    overrides as overrides,
    profiler as profiler,
    quasirandom as quasirandom,
    races as races,
    random as random,
    serialization as serialization,
    signal as signal,
    special as special,
    storage as storage,
    testing as testing,
    torch_compat as torch_compat,
    train as train,
    types as types,
    utils as utils,
    version as version,
    xpu as xpu,
)
from tandem._C import (
    Compiled as Compiled,
    ForbiddenError as ForbiddenError,
    Generator as Generator,
    LinAlgError as LinAlgError,
    Node as Node,
    OutOfMemoryError as OutOfMemoryError,
    Size as Size,
    SummaryWriter as SummaryWriter,
    Tensor as Tensor,
    abs as abs,
    abs_ as abs_,
    absolute as absolute,
    absolute_ as absolute_,
    acos as acos,
    acos_ as acos_,
    acosh as acosh,
    acosh_ as acosh_,
    adaptive_avg_pool1d as adaptive_avg_pool1d,
    adaptive_avg_pool2d as adaptive_avg_pool2d,
    adaptive_avg_pool3d as adaptive_avg_pool3d,
    adaptive_max_pool1d as adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d as adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d as adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices,
    add as add,
    add_ as add_,
    addbmm as addbmm,
    addcdiv as addcdiv,
    addcmul as addcmul,
    addmm as addmm,
    addmv as addmv,
    addr as addr,
    affine_grid as affine_grid,
    all as all,
    allclose as allclose,
    alpha_dropout as alpha_dropout,
    amax as amax,
    amin as amin,
    aminmax as aminmax,
    angle as angle,
    angle_ as angle_,
    any as any,
    arange as arange,
    arccos as arccos,
    arccos_ as arccos_,
    arccosh as arccosh,
    arccosh_ as arccosh_,
    arcsin as arcsin,
    arcsin_ as arcsin_,
    arcsinh as arcsinh,
    arcsinh_ as arcsinh_,
    arctan as arctan,
    arctan2 as arctan2,
    arctan2_ as arctan2_,
    arctan_ as arctan_,
    arctanh as arctanh,
    arctanh_ as arctanh_,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    argwhere as argwhere,
    as_strided as as_strided,
    as_tensor as as_tensor,
    asin as asin,
    asin_ as asin_,
    asinh as asinh,
    asinh_ as asinh_,
    atan as atan,
    atan2 as atan2,
    atan2_ as atan2_,
    atan_ as atan_,
    atanh as atanh,
    atanh_ as atanh_,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    baddbmm as baddbmm,
    bernoulli as bernoulli,
    bilinear as bilinear,
    binary_cross_entropy as binary_cross_entropy,
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
    bincount as bincount,
    bitwise_and as bitwise_and,
    bitwise_and_ as bitwise_and_,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_left_shift_ as bitwise_left_shift_,
    bitwise_not as bitwise_not,
    bitwise_not_ as bitwise_not_,
    bitwise_or as bitwise_or,
    bitwise_or_ as bitwise_or_,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_right_shift_ as bitwise_right_shift_,
    bitwise_xor as bitwise_xor,
    bitwise_xor_ as bitwise_xor_,
    bmm as bmm,
    broadcast_to as broadcast_to,
    bucketize as bucketize,
    can_cast as can_cast,
    cat as cat,
    cdist as cdist,
    ceil as ceil,
    ceil_ as ceil_,
    celu as celu,
    celu_ as celu_,
    channel_shuffle as channel_shuffle,
    chunk as chunk,
    clamp as clamp,
    clamp_max as clamp_max,
    clamp_min as clamp_min,
    clip as clip,
    column_stack as column_stack,
    concat as concat,
    concatenate as concatenate,
    constant_pad_nd as constant_pad_nd,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
    copysign as copysign,
    copysign_ as copysign_,
    cos as cos,
    cos_ as cos_,
    cosh as cosh,
    cosh_ as cosh_,
    cosine_embedding_loss as cosine_embedding_loss,
    cosine_similarity as cosine_similarity,
    count_nonzero as count_nonzero,
    cross as cross,
    cross_entropy as cross_entropy,
    ctc_loss as ctc_loss,
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
    decode_image as decode_image,
    default_generator as default_generator,
    deg2rad as deg2rad,
    deg2rad_ as deg2rad_,
    device as device,
    diag as diag,
    diag_embed as diag_embed,
    diagflat as diagflat,
    diagonal as diagonal,
    diff as diff,
    digamma as digamma,
    digamma_ as digamma_,
    dist as dist,
    div as div,
    div_ as div_,
    divide as divide,
    divide_ as divide_,
    dot as dot,
    dropout as dropout,
    dropout1d as dropout1d,
    dropout2d as dropout2d,
    dropout3d as dropout3d,
    dropout_ as dropout_,
    dsplit as dsplit,
    dstack as dstack,
    dtype as dtype,
    elu as elu,
    elu_ as elu_,
    embedding_bag as embedding_bag,
    empty as empty,
    empty_like as empty_like,
    encode_png as encode_png,
    eq as eq,
    eq_ as eq_,
    equal as equal,
    erf as erf,
    erf_ as erf_,
    erfc as erfc,
    erfc_ as erfc_,
    erfinv as erfinv,
    erfinv_ as erfinv_,
    exp as exp,
    exp2 as exp2,
    exp2_ as exp2_,
    exp_ as exp_,
    expm1 as expm1,
    expm1_ as expm1_,
    eye as eye,
    feature_alpha_dropout as feature_alpha_dropout,
    feature_dropout as feature_dropout,
    fix as fix,
    fix_ as fix_,
    flatten as flatten,
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
    float_power as float_power,
    floor as floor,
    floor_ as floor_,
    floor_divide as floor_divide,
    floor_divide_ as floor_divide_,
    fmax as fmax,
    fmax_ as fmax_,
    fmin as fmin,
    fmin_ as fmin_,
    fmod as fmod,
    fmod_ as fmod_,
    fold as fold,
    frac as frac,
    frac_ as frac_,
    fractional_max_pool2d as fractional_max_pool2d,
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
    fractional_max_pool3d as fractional_max_pool3d,
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
    from_numpy as from_numpy,
    frombuffer as frombuffer,
    full as full,
    full_like as full_like,
    gather as gather,
    gaussian_nll_loss as gaussian_nll_loss,
    ge as ge,
    ge_ as ge_,
    gelu as gelu,
    ger as ger,
    get_cpu_random as get_cpu_random,
    get_default_device as get_default_device,
    get_default_dtype as get_default_dtype,
    get_num_threads as get_num_threads,
    glu as glu,
    greater as greater,
    greater_ as greater_,
    greater_equal as greater_equal,
    greater_equal_ as greater_equal_,
    grid_sample as grid_sample,
    group_norm as group_norm,
    gru as gru,
    gru_cell as gru_cell,
    gt as gt,
    gt_ as gt_,
    gumbel_softmax as gumbel_softmax,
    hardshrink as hardshrink,
    hardsigmoid as hardsigmoid,
    hardsigmoid_ as hardsigmoid_,
    hardswish as hardswish,
    hardswish_ as hardswish_,
    hardtanh as hardtanh,
    hardtanh_ as hardtanh_,
    heaviside as heaviside,
    heaviside_ as heaviside_,
    hinge_embedding_loss as hinge_embedding_loss,
    histc as histc,
    hsplit as hsplit,
    hstack as hstack,
    huber_loss as huber_loss,
    hypot as hypot,
    hypot_ as hypot_,
    index_add as index_add,
    index_copy as index_copy,
    index_fill as index_fill,
    index_reduce as index_reduce,
    index_select as index_select,
    inner as inner,
    instance_norm as instance_norm,
    interpolate as interpolate,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    isclose as isclose,
    isfinite as isfinite,
    isin as isin,
    isinf as isinf,
    isnan as isnan,
    isneginf as isneginf,
    isposinf as isposinf,
    kl_div as kl_div,
    kron as kron,
    kthvalue as kthvalue,
    l1_loss as l1_loss,
    layer_norm as layer_norm,
    ldexp as ldexp,
    ldexp_ as ldexp_,
    le as le,
    le_ as le_,
    leaky_relu as leaky_relu,
    leaky_relu_ as leaky_relu_,
    lerp as lerp,
    less as less,
    less_ as less_,
    less_equal as less_equal,
    less_equal_ as less_equal_,
    lgamma as lgamma,
    lgamma_ as lgamma_,
    linear as linear,
    linspace as linspace,
    local_response_norm as local_response_norm,
    log as log,
    log10 as log10,
    log10_ as log10_,
    log1p as log1p,
    log1p_ as log1p_,
    log2 as log2,
    log2_ as log2_,
    log_ as log_,
    log_softmax as log_softmax,
    logaddexp as logaddexp,
    logaddexp2 as logaddexp2,
    logaddexp2_ as logaddexp2_,
    logaddexp_ as logaddexp_,
    logcumsumexp as logcumsumexp,
    logical_and as logical_and,
    logical_and_ as logical_and_,
    logical_not as logical_not,
    logical_not_ as logical_not_,
    logical_or as logical_or,
    logical_or_ as logical_or_,
    logical_xor as logical_xor,
    logical_xor_ as logical_xor_,
    logit as logit,
    logsigmoid as logsigmoid,
    logsigmoid_ as logsigmoid_,
    logspace as logspace,
    logsumexp as logsumexp,
    lp_pool1d as lp_pool1d,
    lp_pool2d as lp_pool2d,
    lp_pool3d as lp_pool3d,
    lstm as lstm,
    lstm_cell as lstm_cell,
    lt as lt,
    lt_ as lt_,
    manual_seed as manual_seed,
    margin_ranking_loss as margin_ranking_loss,
    masked_fill as masked_fill,
    masked_scatter as masked_scatter,
    masked_select as masked_select,
    matmul as matmul,
    max as max,
    max_pool1d as max_pool1d,
    max_pool1d_with_indices as max_pool1d_with_indices,
    max_pool2d as max_pool2d,
    max_pool2d_with_indices as max_pool2d_with_indices,
    max_pool3d as max_pool3d,
    max_pool3d_with_indices as max_pool3d_with_indices,
    max_unpool1d as max_unpool1d,
    max_unpool2d as max_unpool2d,
    max_unpool3d as max_unpool3d,
    maximum as maximum,
    maximum_ as maximum_,
    mean as mean,
    median as median,
    min as min,
    minimum as minimum,
    minimum_ as minimum_,
    mish as mish,
    mish_ as mish_,
    mm as mm,
    mode as mode,
    moveaxis as moveaxis,
    movedim as movedim,
    mse_loss as mse_loss,
    msort as msort,
    mul as mul,
    mul_ as mul_,
    multi_head_attention_forward as multi_head_attention_forward,
    multi_margin_loss as multi_margin_loss,
    multilabel_margin_loss as multilabel_margin_loss,
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
    multinomial as multinomial,
    multiply as multiply,
    multiply_ as multiply_,
    mv as mv,
    nan_to_num as nan_to_num,
    nanmean as nanmean,
    nanmedian as nanmedian,
    nanquantile as nanquantile,
    nansum as nansum,
    narrow as narrow,
    ne as ne,
    ne_ as ne_,
    neg as neg,
    neg_ as neg_,
    negative as negative,
    negative_ as negative_,
    nll_loss as nll_loss,
    normal as normal,
    normalize as normalize,
    not_equal as not_equal,
    not_equal_ as not_equal_,
    one_hot as one_hot,
    ones as ones,
    ones_like as ones_like,
    optim_create as optim_create,
    outer as outer,
    pad as pad,
    pairwise_distance as pairwise_distance,
    permute as permute,
    pixel_shuffle as pixel_shuffle,
    pixel_unshuffle as pixel_unshuffle,
    poisson_nll_loss as poisson_nll_loss,
    polygamma as polygamma,
    positive as positive,
    pow as pow,
    pow_ as pow_,
    prelu as prelu,
    prod as prod,
    promote_types as promote_types,
    put as put,
    quantile as quantile,
    rad2deg as rad2deg,
    rad2deg_ as rad2deg_,
    rand as rand,
    rand_like as rand_like,
    randint as randint,
    randint_like as randint_like,
    randn as randn,
    randn_like as randn_like,
    randperm as randperm,
    ravel as ravel,
    read_image as read_image,
    reciprocal as reciprocal,
    reciprocal_ as reciprocal_,
    relu as relu,
    relu6 as relu6,
    relu6_ as relu6_,
    relu_ as relu_,
    remainder as remainder,
    remainder_ as remainder_,
    repeat as repeat,
    repeat_interleave as repeat_interleave,
    reshape as reshape,
    rms_norm as rms_norm,
    rnn_relu as rnn_relu,
    rnn_relu_cell as rnn_relu_cell,
    rnn_tanh as rnn_tanh,
    rnn_tanh_cell as rnn_tanh_cell,
    roll as roll,
    rot90 as rot90,
    round as round,
    round_ as round_,
    row_stack as row_stack,
    rrelu as rrelu,
    rrelu_ as rrelu_,
    rsqrt as rsqrt,
    rsqrt_ as rsqrt_,
    rsub as rsub,
    rsub_ as rsub_,
    scaled_dot_product_attention as scaled_dot_product_attention,
    scatter as scatter,
    scatter_add as scatter_add,
    scatter_reduce as scatter_reduce,
    searchsorted as searchsorted,
    select as select,
    selu as selu,
    selu_ as selu_,
    set_cpu_random as set_cpu_random,
    set_default_device as set_default_device,
    set_num_threads as set_num_threads,
    sgn as sgn,
    sgn_ as sgn_,
    sigmoid as sigmoid,
    sigmoid_ as sigmoid_,
    sign as sign,
    sign_ as sign_,
    signbit as signbit,
    silu as silu,
    silu_ as silu_,
    sin as sin,
    sin_ as sin_,
    sinc as sinc,
    sinc_ as sinc_,
    sinh as sinh,
    sinh_ as sinh_,
    smooth_l1_loss as smooth_l1_loss,
    soft_margin_loss as soft_margin_loss,
    softmax as softmax,
    softmin as softmin,
    softplus as softplus,
    softshrink as softshrink,
    softsign as softsign,
    softsign_ as softsign_,
    sort as sort,
    sqrt as sqrt,
    sqrt_ as sqrt_,
    square as square,
    square_ as square_,
    squeeze as squeeze,
    stack as stack,
    std as std,
    std_mean as std_mean,
    sub as sub,
    sub_ as sub_,
    subtract as subtract,
    subtract_ as subtract_,
    sum as sum,
    swapaxes as swapaxes,
    swapdims as swapdims,
    sync_batch_norm as sync_batch_norm,
    t as t,
    take as take,
    take_along_dim as take_along_dim,
    tan as tan,
    tan_ as tan_,
    tanh as tanh,
    tanh_ as tanh_,
    tanhshrink as tanhshrink,
    tanhshrink_ as tanhshrink_,
    tensor as tensor,
    tensor_split as tensor_split,
    threshold as threshold,
    threshold_ as threshold_,
    tile as tile,
    topk as topk,
    trace as trace,
    transpose as transpose,
    trapezoid as trapezoid,
    trapz as trapz,
    tril as tril,
    tril_indices as tril_indices,
    triplet_margin_loss as triplet_margin_loss,
    triu as triu,
    triu_indices as triu_indices,
    true_divide as true_divide,
    trunc as trunc,
    trunc_ as trunc_,
    unbind as unbind,
    unflatten as unflatten,
    unfold as unfold,
    unique as unique,
    unique_consecutive as unique_consecutive,
    unsafe_chunk as unsafe_chunk,
    unsqueeze as unsqueeze,
    var as var,
    var_mean as var_mean,
    vdot as vdot,
    vsplit as vsplit,
    vstack as vstack,
    where as where,
    xlogy as xlogy,
    xlogy_ as xlogy_,
    zeros as zeros,
    zeros_like as zeros_like,
)
from tandem._bits import (
    frexp as frexp,
    nextafter as nextafter,
)
from tandem._compile import (
    compile as compile,
)
from tandem._formats import (
    channels_last as channels_last,
    channels_last_3d as channels_last_3d,
    contiguous_format as contiguous_format,
    layout as layout,
    memory_format as memory_format,
    preserve_format as preserve_format,
    strided as strided,
)
from tandem._functions import (
    _assert as _assert,
)
from tandem._grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from tandem._mapped import (
    from_file as from_file,
)
from tandem._named_special import (
    i0 as i0,
    i0_ as i0_,
    igamma as igamma,
    igammac as igammac,
)
from tandem._random import (
    fork_rng as fork_rng,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from tandem._settings import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    finfo as finfo,
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    get_float32_matmul_precision as get_float32_matmul_precision,
    get_num_interop_threads as get_num_interop_threads,
    iinfo as iinfo,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled as is_warn_always_enabled,
    set_default_dtype as set_default_dtype,
    set_default_tensor_type as set_default_tensor_type,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    set_float32_matmul_precision as set_float32_matmul_precision,
    set_num_interop_threads as set_num_interop_threads,
    set_printoptions as set_printoptions,
    set_warn_always as set_warn_always,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from tandem._statistics import (
    corrcoef as corrcoef,
    cov as cov,
    cumulative_trapezoid as cumulative_trapezoid,
    gradient as gradient,
    vander as vander,
)
from tandem._streams import (
    AcceleratorError as AcceleratorError,
    Event as Event,
    Stream as Stream,
)
from tandem._virtual import (
    virtual_gpus as virtual_gpus,
)
from tandem._windows import (
    bartlett_window as bartlett_window,
    blackman_window as blackman_window,
    hamming_window as hamming_window,
    hann_window as hann_window,
    kaiser_window as kaiser_window,
)
from tandem.amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_enabled as is_autocast_enabled,
)
from tandem.autograd import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    is_anomaly_enabled as is_anomaly_enabled,
)
from tandem.futures import (
    Future as Future,
    fork as fork,
    wait as wait,
)
from tandem.serialization import (
    load as load,
    save as save,
)
from tandem.smi import (
    smi as smi,
)
from tandem.storage import (
    TypedStorage as TypedStorage,
    UntypedStorage as UntypedStorage,
)

BFloat16Tensor: type[Tensor]
BoolTensor: type[Tensor]
ByteTensor: type[Tensor]
CharTensor: type[Tensor]
DoubleTensor: type[Tensor]
FloatTensor: type[Tensor]
HalfTensor: type[Tensor]
IntTensor: type[Tensor]
LongTensor: type[Tensor]
ShortTensor: type[Tensor]
def addmv_(input: Tensor, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """addmv, into input."""
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged: the elements are real."""
def alpha_dropout_(*args: Any, **kwargs: Any) -> Tensor: ...
def as_strided_(*args: Any, **kwargs: Any) -> Tensor: ...
def as_strided_scatter(input: Tensor, src: Any, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """A copy of input with src where as_strided would look."""
def asarray(obj: Any, *, dtype: _DType | None = None, device: _Device | None = None, copy: Any = None, requires_grad: _bool | None = None) -> Tensor:
    """A tensor of the object, over its memory where that can be and `copy` is not True; a tensor is given back itself, with its history."""
def atleast_1d(*args: Any, **kwargs: Any) -> Any: ...
def atleast_2d(*args: Any, **kwargs: Any) -> Any: ...
def atleast_3d(*args: Any, **kwargs: Any) -> Any: ...
def batch_norm(input: Tensor, weight: Tensor | None, bias: Any, running_mean: Any, running_var: Any, training: Any, momentum: Any, eps: Any, cudnn_enabled: Any) -> Tensor:
    """nn.functional.batch_norm with its arguments in another order."""
bfloat16: _dtype
def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the tensors as blocks on its diagonal."""
bool: _dtype
def broadcast_shapes(*shapes: Any) -> Size:
    """The size that tensors of these sizes have together."""
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, expanded to a size in common."""
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of elements, a row each."""
cdouble: _dtype
cfloat: _dtype
def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications."""
chalf: _dtype
def cholesky(input: Tensor, upper: Any = False, *, out: Tensor | None = None) -> Tensor:
    """The Cholesky factor of a positive definite matrix."""
def cholesky_inverse(input: Tensor, upper: Any = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A, from its Cholesky factor."""
def cholesky_solve(input: Tensor, input2: Any, upper: Any = False, *, out: Tensor | None = None) -> Tensor:
    """X of A X = input, from input2, the Cholesky factor of A."""
def clamp_(*args: Any, **kwargs: Any) -> Tensor: ...
def clamp_max_(*args: Any, **kwargs: Any) -> Tensor: ...
def clamp_min_(*args: Any, **kwargs: Any) -> Tensor: ...
def clip_(*args: Any, **kwargs: Any) -> Tensor: ...
def clone(*args: Any, **kwargs: Any) -> Tensor: ...
def combinations(input: Tensor, r: Any = 2, with_replacement: Any = False) -> Tensor:
    """All choices of r elements of a vector, a row each."""
def complex(real: Any, imag: Any, *, out: Tensor | None = None) -> Any:
    """Not there: there are no complex dtypes."""
complex128: _dtype
complex32: _dtype
complex64: _dtype
def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ...) -> Any:
    """true_fn(*operands) where pred is true, else false_fn(*operands)."""
def conj(*args: Any, **kwargs: Any) -> Tensor: ...
def conj_physical(input: Tensor) -> Tensor:
    """Itself: the elements are real."""
def conv_tbc(input: Tensor, weight: Tensor | None, bias: Any, pad: Any = 0) -> Tensor:
    """A convolution over (time, batch, channels) with a weight (width, input channels, output channels)."""
def det(input: Tensor) -> Tensor:
    """The determinant of square matrices."""
def detach(*args: Any, **kwargs: Any) -> Tensor: ...
def detach_(*args: Any, **kwargs: Any) -> Tensor: ...
def diagonal_scatter(input: Tensor, src: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Tensor:
    """A copy of input with src on a diagonal."""
double: _dtype
def einsum(equation: Any, *operands: Any) -> Tensor:
    """A sum of products by an equation such as 'ij,jk->ik'; also in the form einsum(a, [0, 1], b, [1, 2], [0, 2])."""
def embedding(weight: Tensor | None, indices: Any, padding_idx: Any = ..., scale_grad_by_freq: Any = False, sparse: Any = False) -> Tensor:
    """Rows of weight, by their numbers. nn.functional.embedding has the numbers first."""
def empty_permuted(size: Any, physical_layout: Any, *, dtype: _DType | None = None, layout: Any = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor whose dimensions lie in memory in another order; its elements are not set."""
def empty_strided(size: Any, stride: Any, *, dtype: _DType | None = None, layout: Any = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor with these strides, whose elements are not set."""
def feature_alpha_dropout_(*args: Any, **kwargs: Any) -> Tensor: ...
def feature_dropout_(*args: Any, **kwargs: Any) -> Tensor: ...
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of input's size full of the value."""
def fill_(*args: Any, **kwargs: Any) -> Tensor: ...
float: _dtype
float16: _dtype
float32: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's, or of a DLPack capsule."""
def gcd(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The largest number that divides both; Euclid's algorithm, which waits for the device at each of its steps."""
def gcd_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """gcd, into input."""
def geqrf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """R on and above the diagonal, below it the vectors of the reflections whose product is Q, and their weights tau."""
def get_device(input: Tensor) -> _int:
    """The number of its GPU; -1 on the CPU."""
half: _dtype
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: Any = False, out: Tensor | None = None) -> Any:
    """How many elements, or how much weight, lie in each bin, and where the bins end. bins: how many, or their ends in ascending order."""
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Tensor | None = None, density: Any = False, out: Tensor | None = None) -> Tensor:
    """How many points, the last dimension being coordinates, lie in each box.

bins: how many boxes there are along each coordinate, as a number or several; or tensors of edges, one for each coordinate."""
def imag(input: Tensor) -> Tensor:
    """An error: there are no complex dtypes."""
def index_put(input: Tensor, indices: Any, values: Tensor | _Number, accumulate: _bool = False) -> Tensor:
    """A copy of input with values at the indices."""
def index_put_(input: Tensor, indices: Any, values: Tensor | _Number, accumulate: _bool = False) -> Tensor:
    """Puts values at the indices."""
int: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
int8: _dtype
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverses of square matrices."""
def is_complex(*args: Any, **kwargs: Any) -> _bool: ...
def is_conj(input: Tensor) -> _bool:
    """False: no tensor of tandem's has that."""
def is_distributed(input: Tensor) -> _bool:
    """False: no tensor of tandem's has that."""
def is_floating_point(*args: Any, **kwargs: Any) -> _bool: ...
def is_inference(input: Tensor) -> _bool:
    """Whether it was made in a block of inference_mode, and not as a view of a tensor from outside."""
def is_neg(input: Tensor) -> _bool:
    """False: no tensor of tandem's has that."""
def is_nonzero(*args: Any, **kwargs: Any) -> _bool: ...
def is_same_size(input: Tensor, other: Tensor | _Number) -> _bool:
    """Whether both have the same sizes."""
def is_signed(input: Tensor) -> _bool:
    """Whether its dtype has negative numbers."""
def is_storage(obj: Any) -> _bool:
    """Whether it is a storage, of bytes or of elements."""
def is_tensor(obj: Any) -> _bool:
    """Whether it is a tensor."""
def isreal(input: Tensor) -> Tensor:
    """True everywhere: there are no complex dtypes."""
def lcm(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The smallest positive number that both divide; 0 where one is 0."""
def lcm_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """lcm, into input."""
def lobpcg(A: Any, k: Any = None, B: Any = None, X: Any = None, n: Any = None, iK: Any = None, niter: Any = None, tol: Any = None, largest: Any = None, method: Any = None, tracker: Any = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None) -> Tensor:
    """The k largest (smallest where not `largest`) eigenvalues of A x = value B x for symmetric matrices, and the vectors.

They come from linalg.eigh, whole and exact: what steers PyTorch's iteration (X but for its number of columns, iK, niter, tol, method,
tracker, ortho_*) is accepted and changes nothing."""
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
def logit_(*args: Any, **kwargs: Any) -> Tensor: ...
long: _dtype
def lu(A: Any, pivot: Any = True, get_infos: Any = False, out: Tensor | None = None) -> Tensor:
    """The old form of linalg.lu_factor: L and U in one matrix, the rows exchanged, and with get_infos where U has its first zero."""
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any, *, out: Tensor | None = None) -> Tensor:
    """X of A X = b from the factors of A. The old form of linalg.lu_solve."""
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: Any = True, unpack_pivots: Any = True, *, out: Tensor | None = None) -> Tensor:
    """P, L and U of A = P L U from the packed form; empty tensors for what is not asked for."""
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices: a Taylor polynomial of the matrix scaled down by a power of two, squared as often."""
def matrix_power(input: Tensor, n: Any, *, out: Tensor | None = None) -> Tensor:
    """The matrix times itself n times; the inverse for negative n."""
def meshgrid(*tensors: Any, indexing: Any = None) -> tuple[Tensor, ...]:
    """Grids of coordinates. indexing: 'ij', the default, or 'xy'."""
def mvlgamma(input: Tensor, p: Any, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of p dimensions."""
def nan_to_num_(*args: Any, **kwargs: Any) -> Tensor: ...
def narrow_copy(input: Tensor, dim: Any, start: Any, length: Any, *, out: Tensor | None = None) -> Tensor:
    """A part of a dimension, in memory of its own."""
newaxis: None
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Any = False) -> Any:
    """Where the elements are not zero: a row of indices for each, or with as_tuple one tensor of indices for each dimension."""
def nonzero_static(input: Tensor, *, size: Any, fill_value: Any = ...) -> Tensor:
    """The first `size` rows of nonzero, filled up where there are fewer."""
def norm(input: Tensor, p: Any = 'fro', dim: Any = None, keepdim: _bool = False, out: Tensor | None = None, dtype: _DType | None = None) -> Tensor:
    """The norm of vectors or matrices, of the whole tensor without `dim`."""
def numel(*args: Any, **kwargs: Any) -> _int: ...
def numpy_T(input: Tensor) -> Tensor:
    """The dimensions in the other order."""
def orgqr(input: Tensor, tau: Any) -> Tensor:
    """householder_product, by its old name."""
def ormqr(input: Tensor, tau: Any, other: Tensor | _Number, left: Any = True, transpose: Any = False, *, out: Tensor | None = None) -> Tensor:
    """Q times other, or other times Q where not left, of the whole Q of geqrf's reflections; its transpose where asked for."""
def pca_lowrank(A: Any, q: Any = None, center: Any = True, niter: Any = 2) -> Tensor:
    """U, S and V of an approximation of A, whose rows are samples, by q principal components; columns are centered first."""
def pdist(input: Tensor, p: Any = 2) -> Tensor:
    """The distances by the p-norm between all pairs of rows, each pair once."""
def pinverse(input: Tensor, rcond: Any = 1e-15) -> Tensor:
    """Moore and Penrose's inverse."""
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Counts of events of which there are `input` in the mean."""
def range(start: Any = 0, end: Any = None, step: Any = 1, *, out: Tensor | None = None, dtype: _DType | None = None, layout: Any = None, device: _Device | None = None, requires_grad: _bool = False) -> Tensor:
    """From start to end, both included: the old form of arange."""
def real(*args: Any, **kwargs: Any) -> Tensor: ...
def renorm(input: Tensor, p: Any, dim: Any, maxnorm: Any, *, out: Tensor | None = None) -> Tensor:
    """The slices along a dimension whose p-norm is above maxnorm, scaled down to it."""
def resize_as_(input: Tensor, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """Takes the sizes of another tensor."""
def resolve_conj(input: Tensor) -> Tensor:
    """Itself: the elements are real."""
def resolve_neg(input: Tensor) -> Tensor:
    """Itself: the elements are real."""
def result_type(tensor1: Any, tensor2: Any) -> _dtype:
    """The dtype of tensor1 + tensor2."""
def scalar_tensor(s: Any, *, dtype: _DType | None = None, layout: Any = None, device: _Device | None = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A tensor without dimensions."""
def segment_reduce(data: Any, reduce: Any, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: Any = 0, unsafe: Any = False, initial: Any = None) -> Tensor:
    """Sums, means, products, minima or maxima of neighbouring parts along `axis`, of these lengths or between these offsets."""
def select_scatter(input: Tensor, src: Any, dim: Any, index: Any) -> Tensor:
    """A copy of input with src at one index of a dimension."""
def set_flush_denormal(mode: Any) -> _bool:
    """False: numbers are not flushed."""
short: _dtype
def slice_scatter(input: Tensor, src: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> Tensor:
    """A copy of input with src in a slice of a dimension."""
def slogdet(input: Tensor) -> Any:
    """The sign and the logarithm of the determinant."""
def split(tensor: Tensor, split_size_or_sections: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Parts along a dimension, of one size or of the sizes in a list."""
def split_with_sizes(input: Tensor, split_sizes: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Parts along a dimension, of the sizes in a list."""
def svd(input: Tensor, some: Any = True, compute_uv: Any = True, *, out: Tensor | None = None) -> Any:
    """U, S and V of U diag(S) Vᵀ = input. some: not more columns than S has. The old form of linalg.svd, which gives Vᵀ."""
def svd_lowrank(A: Any, q: Any = 6, niter: Any = 2, M: Any = None) -> Tensor:
    """U, S and V of an approximation of A - M by q singular values: Halko, Martinsson and Tropp (2009), algorithms 4.4 and 5.1."""
def sym_int(a: Any) -> _int:
    """The number as an int."""
def tensordot(a: Any, b: Any, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums of products over several dimensions: the last `dims` of a with the first of b, or two lists of dimensions."""
def to_dlpack(tensor: Tensor) -> Any:
    """The tensor as a DLPack capsule."""
def triangular_solve(b: Any, A: Any, upper: Any = True, transpose: Any = False, unitriangular: Any = False, *, out: Tensor | None = None) -> Tensor:
    """X of A X = b for a triangular A, and A: the old form of linalg.solve_triangular."""
def typename(obj: Any) -> _str:
    """The name of its type, of tensors with dtype and device; of a class or function its own name."""
uint16: _dtype
uint32: _dtype
uint64: _dtype
uint8: _dtype
def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """Indices into a flattened tensor as one index for each dimension."""
def unsafe_split(input: Tensor, split_size: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """split."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: Any = 0) -> Tensor:
    """split_with_sizes."""
def view_as_real(input: Tensor) -> Any:
    """Not there: there are no complex dtypes."""
def vmap(func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: Any = 'error', *, chunk_size: Any = None) -> Tensor:
    """func.vmap: a function that applies func to each index of a dimension, in a loop."""
def while_loop(cond_fn: Any, body_fn: Any, carried_inputs: Any) -> tuple[Any, ...]:
    """The values of body_fn, given to it again while cond_fn of them is true."""
def zero_(*args: Any, **kwargs: Any) -> Tensor: ...
__version__: _str
