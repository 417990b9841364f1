"""Passes over data without learning from it: validation, test, prediction."""

import tandem
from tandem import _C
from tandem.train import loaders
from tandem.train.devices import moved
from tandem.train.figures import Results
from tandem.train.pace import Pace


class _Judging:
    """In this block a module is in evaluation mode, and nothing is recorded for gradients; after it each part has its own mode back."""

    def __init__(self, module, inference):
        self._modes = [(part, part.training) for part in module.modules()]
        self._module = module
        self._scope = tandem.inference_mode() if inference else tandem.no_grad()

    def __enter__(self):
        self._scope.__enter__()
        self._module.eval()

    def __exit__(self, *error):
        for part, mode in self._modes:
            part.training = mode
        self._scope.__exit__(*error)


def number_of_batches(run_loaders, limit, name):
    """For each loader how many batches count."""
    return [loaders.at_most(loaders.length_of(loader), limit, name) for loader in run_loaders]


def evaluate(run, stage, run_loaders, counts, go_on=lambda: True):
    """A pass of `stage`, "validation" or "test", over loaders: for each the figures that the steps logged. None where `go_on` ended it.

    A module without `log` may return figures: a number, or a dictionary of them."""
    trainer, step = run.trainer, f"{stage}_step"
    results = Results(run.devices[0])
    before, trainer._results, run.results = (trainer._results, run.results), results, results
    pace = Pace(run.devices[0])
    several = len(run_loaders) > 1
    try:
        with _Judging(run.model, trainer.inference_mode):
            trainer._call(f"on_{stage}_start")
            trainer._call(f"on_{stage}_epoch_start")
            for number, (loader, count) in enumerate(zip(run_loaders, counts)):
                results.loader = number if several else None
                loaders.set_epoch(loader, trainer.current_epoch)
                batches, batch_idx = loaders.Batches(loader, count), 0
                while count != 0 and (following := batches.next()) is not None:
                    batch = run.to_device(following[0], number)
                    results.begin_batch()
                    trainer._call(f"on_{stage}_batch_start", batch, batch_idx, number)
                    with run.precision.scope():
                        outputs = run.step(step, batch, batch_idx, loader_number=number if several else None)
                    for output, size in outputs:
                        results.part_size = size
                        run.log_returned(stage, output)
                    shown = outputs[0][0] if len(outputs) == 1 else [output for output, _ in outputs]
                    trainer._call(f"on_{stage}_batch_end", shown, batch, batch_idx, number)
                    results.end_batch()
                    trainer._take_judged_step(results)
                    pace.batch_queued()
                    batch_idx += 1
                    if not go_on():
                        return None
            results.loader = None
            trainer._note_epoch_values(results)
            trainer._call(f"on_{stage}_epoch_end")
            values = trainer._take_epoch_values(results)
            trainer._call(f"on_{stage}_end")
            return _by_loader(values, len(run_loaders))
    finally:
        trainer._results, run.results = before


def _by_loader(values, count):
    """A dictionary for each loader: what was logged under its number, and what is of none."""
    if count <= 1:
        return [values]
    ends = [f"/dataloader_idx_{number}" for number in range(count)]
    shared = {name: value for name, value in values.items() if not any(name.endswith(end) for end in ends)}
    return [{**{name: value for name, value in values.items() if name.endswith(end)}, **shared} for end in ends]


def predict(run, run_loaders, counts):
    """What predict_step gives for each batch, on the CPU: a list, of several loaders a list of lists."""
    trainer = run.trainer
    all_predictions = []
    run.results = Results(run.devices[0])
    with _Judging(run.model, trainer.inference_mode):
        trainer._call("on_predict_start")
        trainer._call("on_predict_epoch_start")
        for number, (loader, count) in enumerate(zip(run_loaders, counts)):
            predictions, batches, batch_idx = [], loaders.Batches(loader, count), 0
            while count != 0 and (following := batches.next()) is not None:
                batch = run.to_device(following[0], number)
                trainer._call("on_predict_batch_start", batch, batch_idx, number)
                with run.precision.scope():
                    outputs = run.step("predict_step", batch, batch_idx, loader_number=number if len(run_loaders) > 1 else None)
                output = run.runner.joined(outputs)
                trainer._call("on_predict_batch_end", output, batch, batch_idx, number)
                predictions.append(moved(output, _C.device("cpu")))
                batch_idx += 1
            all_predictions.append(predictions)
        trainer._call("on_predict_epoch_end")
        trainer._call("on_predict_end")
    return all_predictions[0] if len(all_predictions) == 1 else all_predictions
