"""CSVLogger: metrics.csv with a column for each figure, and hparams.yaml."""

import csv
import json
import os

from tandem import _files
from tandem.train.loggers.logger import Logger, plain


class CSVLogger(Logger):
    """Writes metrics.csv and hparams.yaml into `log_dir`. Where that has a metrics.csv, rows are added to it.

    Rows wait in memory until there are `flush_logs_every_n_steps` of them, or the run ends."""

    def __init__(self, save_dir, name="lightning_logs", version=None, prefix="", flush_logs_every_n_steps=100):
        super().__init__(save_dir, name, version, prefix)
        self._flush_every = flush_logs_every_n_steps
        self._columns, self._rows = None, []

    @property
    def experiment(self):
        """The logger itself, for programs that write past `log_metrics`."""
        return self

    def log_metrics(self, metrics, step=None):
        row = self._named(metrics)
        if "epoch" in row:
            row["epoch"] = int(row["epoch"])
        self._rows.append({**row, "step": len(self._rows) if step is None else step})
        if len(self._rows) >= self._flush_every:
            self.save()

    def log_hyperparams(self, params, *args, **kwargs):
        values = plain(params)
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, "hparams.yaml"), "w", encoding="utf-8") as file:
            for name, value in values.items():
                file.write(f"{name}: {json.dumps(value, default=str)}\n")  # JSON is YAML
            file.write("" if values else "{}\n")

    def save(self):
        """Adds the rows that wait to the file; a new column makes it be written anew."""
        if not self._rows:
            return
        os.makedirs(self.log_dir, exist_ok=True)
        path = os.path.join(self.log_dir, "metrics.csv")
        before = []
        if self._columns is None and os.path.exists(path):
            with open(path, newline="", encoding="utf-8") as file:
                self._columns = next(csv.reader(file), [])
        columns = sorted(set(self._columns or ()).union(*self._rows))
        if columns != self._columns:
            if os.path.exists(path):
                with open(path, newline="", encoding="utf-8") as file:
                    before = list(csv.DictReader(file))
            with _files.whole(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows([*before, *self._rows])
        else:
            with open(path, "a", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, columns).writerows(self._rows)
        self._columns, self._rows = columns, []
