"""Recurrent networks (plain, LSTM, GRU) over sequences, and their single steps."""

import math
import numbers
import warnings

from tandem import _C
from tandem.nn import init
from tandem.nn.modules import _stepwise
from tandem.nn.modules.module import Module
from tandem.nn.modules.utils import typename
from tandem.nn.parameter import Parameter
from tandem.nn.utils.rnn import PackedSequence

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_OPERATIONS = {"LSTM": _C.lstm, "GRU": _C.gru, "RNN_TANH": _C.rnn_tanh, "RNN_RELU": _C.rnn_relu}


def apply_permutation(tensor, permutation, dim=1):
    """The tensor's slices along `dim` in another order."""
    return tensor.index_select(dim, permutation)


def _autocasts(input):
    """Whether operations on the input's device choose their own dtype."""
    from tandem.amp import is_autocast_enabled

    return is_autocast_enabled(input.device.type)


class RNNBase(Module):
    """What the recurrent networks have: num_layers layers of one or two directions, whose weights are named weight_ih_l0, weight_hh_l0,
    bias_ih_l0, bias_hh_l0, weight_hr_l0, and with the ending _reverse."""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout) if isinstance(dropout, numbers.Number) else dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_settings(dropout)
        self._make_weights(device, dtype)
        self.reset_parameters()

    def _check_settings(self, dropout):
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                f"but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if self.input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _make_weights(self, device, dtype):
        rows = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        directions = 2 if self.bidirectional else 1
        self._all_weights = []
        for layer in range(self.num_layers):
            columns = self.input_size if layer == 0 else state * directions
            for direction in range(directions):
                ending = f"_l{layer}" + ("_reverse" if direction else "")
                shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, state)}
                if self.bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if self.proj_size:
                    shapes["weight_hr"] = (self.proj_size, self.hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + ending, Parameter(_C.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + ending for name in shapes])
        self._flat_weights_names = [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights):
        """Nothing: the weights are the attributes of their names."""

    @property
    def all_weights(self):
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Nothing: the operations take weights wherever they lie. Programs written for cuDNN call it."""

    def reset_parameters(self):
        """Draws all weights anew, uniformly within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    # --- Checks
    def check_input(self, input, batch_sizes):
        """Error unless the input has the dtype, dimensions and size that the weights want."""
        weight_dtype = getattr(self, self._flat_weights_names[0]).dtype
        if input.dtype != weight_dtype and not _autocasts(input):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight_dtype}). Convert input: input.to({weight_dtype}), "
                f"or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(self, input, batch_sizes):
        """(layers * directions, N, size of h)."""
        batch = batch_sizes[0] if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return (self.num_layers * (2 if self.bidirectional else 1), int(batch), self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """Error unless the state has the size."""
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Error unless input and state fit the network."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The state in another order of sequences."""
        return hx if permutation is None else apply_permutation(hx, permutation)

    # --- Forward
    def _zero_state(self, input, batch):
        count = self.num_layers * (2 if self.bidirectional else 1)
        return _C.zeros((count, batch, self.proj_size or self.hidden_size), dtype=input.dtype, device=input.device)

    def _check_state_dim(self, hx, dim):
        if hx.dim() != dim:
            kind = "batched 3-D" if dim == 3 else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {dim}-D but got {hx.dim()}-D tensor")

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            hx = self._first_state(input, input.size(0 if self.batch_first else 1))
        else:
            hx = self._given_state(hx, batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = self._map_state(hidden, lambda h: h.squeeze(1))
        return output, hidden

    def _forward_packed(self, packed, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        sizes = batch_sizes.tolist()
        if hx is None:
            hx = self._first_state(data, sizes[0])
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._run_stepwise(data, sizes, hx)
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(hidden, unsorted_indices)

    def _run(self, input, hx):
        return tuple(
            _OPERATIONS[self.mode](
                input,
                hx,
                self._flat_weights,
                self.bias,
                self.num_layers,
                self.dropout,
                self.training,
                self.bidirectional,
                self.batch_first,
            )
        )

    def _run_stepwise(self, data, sizes, hx):
        weights = []
        for names in self._all_weights:
            of_layer = [getattr(self, name) for name in names]
            if not self.bias:
                of_layer[2:2] = (None, None)
            weights.append(of_layer)
        h0, c0 = hx if self.mode == "LSTM" else (hx, None)
        directions = 2 if self.bidirectional else 1
        output, h, c = _stepwise.run(
            self.mode, data, sizes, h0, c0, weights, self.num_layers, directions, self.dropout, self.training
        )
        return output, h if c is None else (h, c)

    def _first_state(self, input, batch):
        return self._zero_state(input, batch)

    def _given_state(self, hx, batched):
        self._check_state_dim(hx, 3 if batched else 2)
        return hx if batched else hx.unsqueeze(1)

    def _map_state(self, state, function):
        return function(state)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """h = tanh or relu of (W_ih x + b_ih + W_hh h + b_hh), step by step over (T, N, input_size)."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
        proj_size=0,
    ):
        if proj_size:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        mode = "RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU"
        super().__init__(
            mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units over (T, N, input_size)."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
        proj_size=0,
    ):
        if proj_size:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )


class LSTM(RNNBase):
    """Long short-term memory over (T, N, input_size); the state is a pair of h and c."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        )

    def get_expected_cell_size(self, input, batch_sizes):
        """(layers * directions, N, hidden_size)."""
        count, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return (count, batch, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        """Error unless input and both states fit the network."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx, permutation):
        """Both states in another order of sequences."""
        return hx if permutation is None else tuple(apply_permutation(h, permutation) for h in hx)

    def _first_state(self, input, batch):
        h = self._zero_state(input, batch)
        if not self.proj_size:
            return h, h
        return h, _C.zeros((h.size(0), batch, self.hidden_size), dtype=input.dtype, device=input.device)

    def _given_state(self, hx, batched):
        dim = 3 if batched else 2
        if hx[0].dim() != dim or hx[1].dim() != dim:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {dim}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return tuple(hx) if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _map_state(self, state, function):
        return tuple(function(h) for h in state)

    def _run(self, input, hx):
        if self.proj_size:
            if self.batch_first:
                input = input.transpose(0, 1)
            steps, batch = input.size(0), input.size(1)
            output, hidden = self._run_stepwise(input.reshape(steps * batch, -1), [batch] * steps, hx)
            output = output.reshape(steps, batch, -1)
            return output.transpose(0, 1) if self.batch_first else output, hidden
        output, h, c = super()._run(input, hx)
        return output, (h, c)


class RNNCellBase(Module):
    """What single steps have: weight_ih, weight_hh, bias_ih and bias_hh, each for num_chunks gates."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_C.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_C.empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(_C.empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(_C.empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws all weights anew, uniformly within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check(self, input, states):
        name = self._get_name()
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for state in states:
            if not isinstance(state, _C.Tensor):
                raise TypeError(f"{name}: Expected the state to be a Tensor, got {typename(state)}")
            if state.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {state.dim()}D instead")

    def _check_batch(self, input, states):
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {self.input_size}")
        for index, state in enumerate(states):
            if input.size(0) != state.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden{index} batch size {state.size(0)}"
                )

    def _step_of_one_state(self, operation, input, hx):
        """One step of a cell whose state is one tensor; without a batch, one is added and taken off again."""
        self._check(input, () if hx is None else (hx,))
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = _C.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)
        elif not batched:
            hx = hx.unsqueeze(0)
        self._check_batch(input, (hx,))
        result = operation(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        if nonlinearity != "tanh":
            text += f", nonlinearity={nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One step of RNN: (N, input_size) and h (N, hidden_size) to the next h."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity == "tanh":
            return self._step_of_one_state(_C.rnn_tanh_cell, input, hx)
        if self.nonlinearity == "relu":
            return self._step_of_one_state(_C.rnn_relu_cell, input, hx)
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class GRUCell(RNNCellBase):
    """One step of GRU: (N, input_size) and h (N, hidden_size) to the next h."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step_of_one_state(_C.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM: (N, input_size) and (h, c) to the next (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        if isinstance(hx, _C.Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        self._check(input, () if hx is None else hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = _C.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)
            h, c = zeros, zeros
        else:
            h, c = hx if batched else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        self._check_batch(input, (h, c))
        h, c = _C.lstm_cell(input, (h, c), self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
