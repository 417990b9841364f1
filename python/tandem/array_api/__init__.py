"""The Python array API standard over tandem's tensors: its names, arguments and rules of promotion, without complex numbers.

x.__array_namespace__() gives this module to programs that are written for any library of arrays.
"""

from math import e, inf, nan, pi

from tandem import _C
from tandem.array_api import fft, linalg
from tandem.array_api._creation import (arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones,
                                        ones_like, tril, triu, zeros, zeros_like)
from tandem.array_api._dtypes import astype, can_cast, finfo, iinfo, isdtype, result_type
from tandem.array_api._elementwise import (abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert,
                                           bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign,
                                           cos, cosh, divide, equal, exp, expm1, floor, floor_divide, greater, greater_equal, hypot, imag,
                                           isfinite, isinf, isnan, less, less_equal, log, log1p, log2, log10, logaddexp, logical_and,
                                           logical_not, logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter,
                                           not_equal, positive, pow, real, reciprocal, remainder, round, sign, signbit, sin, sinh, sqrt,
                                           square, subtract, tan, tanh, trunc)
from tandem.array_api._info import __array_namespace_info__
from tandem.array_api._manipulation import (broadcast_arrays, broadcast_shapes, broadcast_to, concat, expand_dims, flip, matrix_transpose,
                                            moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, take, take_along_axis, tile,
                                            unstack)
from tandem.array_api._ordering import (argmax, argmin, argsort, isin, nonzero, searchsorted, sort, unique_all, unique_counts,
                                        unique_inverse, unique_values, where)
from tandem.array_api._reductions import (all, any, count_nonzero, cumulative_prod, cumulative_sum, diff, max, mean, min, prod, std, sum,
                                          var)
from tandem.array_api.linalg import matmul, tensordot, vecdot

bool, uint8, int8, int16, int32, int64, float32, float64 = _C.bool, _C.uint8, _C.int8, _C.int16, _C.int32, _C.int64, _C.float32, _C.float64
newaxis = None

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")  # of the standard: each has what those before it have
__array_api_version__ = VERSIONS[-1]
__version__ = _C.version
