"""Recurrent layers step by step, where the operations over whole sequences do not reach: packed sequences and projections."""

from tandem import _C


def _lstm_step(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr):
    if w_hr is None:
        h, c = _C.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        return h, c
    gates = _C.linear(x, w_ih, b_ih) + _C.linear(h, w_hh, b_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return _C.linear(o.sigmoid() * c.tanh(), w_hr), c


_CELLS = {"GRU": _C.gru_cell, "RNN_TANH": _C.rnn_tanh_cell, "RNN_RELU": _C.rnn_relu_cell}


def _step(mode, x, h, c, w_ih, w_hh, b_ih=None, b_hh=None, w_hr=None):
    if mode == "LSTM":
        return _lstm_step(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr)
    return _CELLS[mode](x, h, w_ih, w_hh, b_ih, b_hh), None


def _join(parts):
    return parts[0] if len(parts) == 1 else _C.cat(parts, 0)


def _forward(mode, steps, h, c, weights):
    """Outputs of all steps and the last state of each sequence; sequences that end leave from the end of the batch."""
    outputs, ended_h, ended_c = [], [], []
    for x in steps:
        active, batch = x.size(0), h.size(0)
        if active < batch:
            ended_h.append(h.narrow(0, active, batch - active))
            h = h.narrow(0, 0, active)
            if c is not None:
                ended_c.append(c.narrow(0, active, batch - active))
                c = c.narrow(0, 0, active)
        h, c = _step(mode, x, h, c, *weights)
        outputs.append(h)
    return outputs, _join([h, *reversed(ended_h)]), None if c is None else _join([c, *reversed(ended_c)])


def _backward(mode, steps, h0, c0, weights):
    """The same from the last step to the first; sequences join at their own end."""
    outputs = []
    active = steps[-1].size(0)
    h, c = h0.narrow(0, 0, active), None if c0 is None else c0.narrow(0, 0, active)
    for x in reversed(steps):
        if x.size(0) > active:
            more = x.size(0) - active
            h = _C.cat([h, h0.narrow(0, active, more)], 0)
            if c is not None:
                c = _C.cat([c, c0.narrow(0, active, more)], 0)
            active = x.size(0)
        h, c = _step(mode, x, h, c, *weights)
        outputs.append(h)
    return outputs[::-1], h, c


def run(mode, data, batch_sizes, h0, c0, weights, num_layers, directions, dropout, training):
    """Packed data (all elements, input_size) through all layers, to the packed output and the last states.

    `batch_sizes` is a list; h0 and c0 are (layers * directions, N, hidden), c0 None unless the mode is LSTM; `weights` holds a list of
    tensors for each layer and direction: w_ih, w_hh, then b_ih and b_hh or two None, and w_hr if there is a projection."""
    last_h, last_c = [], []
    for layer in range(num_layers):
        steps = data.split(batch_sizes, 0)
        both = []
        for direction in range(directions):
            i = layer * directions + direction
            one_way = _backward if direction else _forward
            outputs, h, c = one_way(mode, steps, h0[i], None if c0 is None else c0[i], weights[i])
            both.append(_C.cat(outputs, 0))
            last_h.append(h)
            last_c.append(c)
        data = both[0] if directions == 1 else _C.cat(both, 1)
        if dropout > 0 and training and layer < num_layers - 1:
            data = _C.dropout(data, dropout, True)
    return data, _C.stack(last_h), None if c0 is None else _C.stack(last_c)
