"""Padding, sizes and places of pictures."""

import warnings

from tandem import _C

pad = _C.pad
pixel_shuffle = _C.pixel_shuffle
pixel_unshuffle = _C.pixel_unshuffle
channel_shuffle = _C.channel_shuffle
native_channel_shuffle = _C.channel_shuffle

_INTERPOLATING = ("linear", "bilinear", "bicubic", "trilinear")


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    """Resizes (N, C, spatial...) to `size`, or by `scale_factor`."""
    if align_corners is not None and mode not in _INTERPOLATING:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    spatial = input.dim() - 2
    for name, value, kind in (("size", size, "output"), ("scale_factor", scale_factor, "scale")):
        if isinstance(value, (list, tuple)) and len(value) != spatial:
            if kind == "output":
                raise ValueError(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                    f"{list(input.shape[2:])} and output size of {value}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                    "output size in (o1, o2, ...,oK) format."
                )
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(input.shape[2:])} and scale_factor of shape {value}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
                "and scale_factor in (s1, s2, ...,sK) format."
            )
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    options = {"mode": mode, "recompute_scale_factor": bool(recompute_scale_factor), "antialias": antialias}
    if size is not None:
        options["size"] = size
    if scale_factor is not None:
        options["scale_factor"] = scale_factor
    if align_corners is not None:
        options["align_corners"] = align_corners
    return _C.interpolate(input, **options)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of interpolate."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate to the nearest element."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate between the four elements around, corners aligned."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of input (N, C, H, W) at the places of grid (N, H', W', 2), whose coordinates go from -1 to 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    return _C.grid_sample(input, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def affine_grid(theta, size, align_corners=None):
    """The places for grid_sample that affine maps theta (N, 2, 3) or (N, 3, 4) send an output of `size` to."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    return _C.affine_grid(theta, size, align_corners)
