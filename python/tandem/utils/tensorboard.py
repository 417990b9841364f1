"""SummaryWriter: figures, pictures and texts of a run, in files that `tensorboard --logdir` shows. As torch.utils.tensorboard."""

import os
import socket
import time

from tandem import _C


def _number(value):
    """A number of what a program calls a scalar: a number, a tensor or an array of one element."""
    return float(value.item() if hasattr(value, "item") else value)


def _tensor(values):
    """A tensor of a tensor, an array or a list."""
    return values.detach() if isinstance(values, _C.Tensor) else _C.as_tensor(values)


def _rows_first(image, dataformats):
    """A picture as (channels, height, width)."""
    letters = dataformats.upper()
    if letters == "HW":
        return image.unsqueeze(0)
    if sorted(letters) != ["C", "H", "W"]:
        raise ValueError(f"add_image: dataformats is one of CHW, HWC and HW, not {dataformats}")
    return image.permute(letters.index("C"), letters.index("H"), letters.index("W")).contiguous()


class SummaryWriter:
    """Writes an event file into log_dir; runs/<time>_<machine><comment> without one."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not hasattr(_C, "SummaryWriter"):
            raise NotImplementedError("SummaryWriter: this build of tandem has none for Python")
        if not log_dir:
            log_dir = os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._writer = _C.SummaryWriter(self.log_dir)

    def get_logdir(self):
        """The folder of the event file."""
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """A point of the curve `tag`."""
        self._writer.add_scalar(tag, _number(scalar_value), global_step or 0)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Points of several curves in one chart."""
        self._writer.add_scalars(main_tag, {tag: _number(value) for tag, value in tag_scalar_dict.items()}, global_step or 0)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """How the numbers of a tensor are distributed."""
        self._writer.add_histogram(tag, _tensor(values), global_step or 0)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture, of bytes or of floating numbers from 0 to 1."""
        self._writer.add_image(tag, _rows_first(_tensor(img_tensor), dataformats), global_step or 0)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Pictures (number, channels, height, width) side by side, eight to a row."""
        images = _tensor(img_tensor)
        images = images if dataformats.upper() == "NCHW" else images.permute(0, 3, 1, 2)
        columns = min(8, len(images))
        missing = -len(images) % columns
        images = _C.cat([images, _C.zeros_like(images[:1]).expand(missing, -1, -1, -1)]) if missing else images
        rows = [_C.cat(list(row.unbind(0)), 2) for row in images.split(columns)]
        self._writer.add_image(tag, _C.cat(rows, 1).contiguous(), global_step or 0)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of matplotlib's as a picture."""
        import numpy
        from matplotlib import pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        self.add_image(tag, numpy.ascontiguousarray(numpy.asarray(canvas.buffer_rgba())[:, :, :3]), global_step, dataformats="HWC")
        if close:
            pyplot.close(figure)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text; TensorBoard reads it as Markdown."""
        self._writer.add_text(tag, text_string, global_step or 0)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """What the run was made with, and what came out."""
        kept = {name: value if isinstance(value, (bool, str)) else _number(value) for name, value in hparam_dict.items()}
        self._writer.add_hparams(kept, {name: _number(value) for name, value in metric_dict.items()})

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Nothing: there is no graph of operations apart from their run."""

    def flush(self):
        """Brings what was written to the disk."""
        self._writer.flush()

    def close(self):
        """Ends the file."""
        self._writer.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
