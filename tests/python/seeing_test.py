"""What a program can see of itself: copies and waits with its own lines, blocks that forbid them, races, profiles, the table of GPUs."""

import contextlib
import inspect
import io
import json
import os
import tempfile
import unittest

import tandem
from tandem import cuda, ledger, profiler, races

GPUS = cuda.device_count()
HERE = os.path.basename(__file__)


def line():
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno + 1


@unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
class Ledger(unittest.TestCase):
    def test_lines(self):
        x = tandem.ones(100, 100, device="cuda")
        lines = {}
        with ledger.Recorder() as recorder:
            lines["item"] = line()
            x.sum().item()  # noqa: E702
            lines["download"] = line()
            x.cpu()  # noqa: E702
            lines["upload"] = line()
            tandem.ones(10).to("cuda")  # noqa: E702
        self.assertEqual([entry.kind for entry in recorder.entries], ["item", "download", "upload"])
        for entry in recorder.entries:
            self.assertEqual((os.path.basename(entry.file), entry.line), (HERE, lines[entry.kind]))
        self.assertEqual([entry.bytes for entry in recorder.entries], [4, 40000, 40])
        self.assertEqual((recorder.entries[0].from_device, recorder.entries[0].to_device), (x.device, tandem.device("cpu")))
        self.assertIn(f"{HERE}:{lines['item']}", recorder.report())
        self.assertIn(f"{HERE}:{lines['item']}", repr(recorder.entries[0]))
        self.assertIn("<pre", recorder._repr_html_())

    def test_lines_below_the_package(self):
        model = tandem.nn.Linear(4, 4).to("cuda")
        x = tandem.ones(2, 4, device="cuda")
        with ledger.Recorder() as recorder:
            here = line()
            float(tandem.nn.functional.mse_loss(model(x), x))  # noqa: E702
            there = line()
            model.to("cpu")  # noqa: E702
            printed = line()
            repr(x)  # noqa: E702
            listed = line()
            x.tolist()  # noqa: E702
        found = [(entry.kind, entry.line) for entry in recorder.entries]
        self.assertTrue(all(os.path.basename(entry.file) == HERE for entry in recorder.entries), recorder.report())
        self.assertEqual(found[0], ("item", here))
        self.assertEqual([number for _, number in found[1:]], [there, there, printed, listed])

    def test_a_recorder(self):
        x = tandem.ones(2, device="cuda")
        recorder = ledger.Recorder()
        x.tolist()
        self.assertEqual(len(recorder.entries), 1)
        recorder.clear()
        self.assertEqual(recorder.entries, [])
        x.tolist()
        recorder.stop()
        x.tolist()
        recorder.stop()
        self.assertEqual(len(recorder.entries), 1)
        self.assertIn(HERE, ledger.waits(lambda: x.sum().item()))

    def test_guards(self):
        x = tandem.ones(2, device="cuda")
        with ledger.Guard("forbid"):
            y = x + 1
            for call in (y.sum().item, y.cpu, y.tolist, lambda: print(y), cuda.synchronize, lambda: bool(y[0] > 0), lambda: int(y[0])):
                with self.assertRaises(ledger.ForbiddenError) as raised:
                    here = line()
                    call()  # noqa: E702
                self.assertIn(f"{HERE}:", str(raised.exception))
            with ledger.allow("a check"):
                self.assertEqual(y.tolist(), [2.0, 2.0])
            with self.assertRaises(ledger.ForbiddenError) as raised:
                here = line()
                y.sum().item()  # noqa: E702
            self.assertIn(f"{HERE}:{here}", str(raised.exception))
        self.assertEqual(y.tolist(), [2.0, 2.0])
        self.assertTrue(issubclass(ledger.ForbiddenError, RuntimeError))
        with self.assertRaises(KeyError), ledger.forbid():
            raise KeyError
        x.sum().item()
        with self.assertRaises(ValueError):
            ledger.Guard("perhaps")
        with ledger.Guard("log"):
            here = line()
            x.sum().item()  # noqa: E702
        self.assertIn(f"{HERE}:{here}", ledger.log_report())


@unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
class Races(unittest.TestCase):
    def test_one_is_found(self):
        x, side = tandem.ones(10000, device="cuda"), cuda.Stream()
        cuda.synchronize()
        with races.Checker() as checker:
            with cuda.stream(side):
                written = line()
                x.add_(1)  # noqa: E702
            read = line()
            x * 2  # noqa: E702
            cuda.synchronize()
        self.assertEqual(len(checker.reports), 1)
        race = checker.reports[0]
        self.assertEqual(
            [(os.path.basename(o["file"]), o["line"], o["name"], o["writes"]) for o in (race.first, race.second)],
            [(HERE, written, "add", True), (HERE, read, "mul", False)],
        )
        self.assertEqual((race.device, race.sizes, race.dtype, race.bytes), (x.device, (10000,), tandem.float32, 40000))
        self.assertIn(f"{HERE}:{read}", str(checker))

    def test_none_where_there_is_an_order(self):
        x, side = tandem.ones(10000, device="cuda"), cuda.Stream()
        with races.Checker() as checker:
            side.wait_stream(cuda.current_stream())
            with cuda.stream(side):
                x.add_(1)
            cuda.current_stream().wait_stream(side)
            y = x * 2
            cuda.synchronize()
        self.assertEqual((checker.reports, str(checker), y[0].item()), ([], "no races", 4.0))


class Profiles(unittest.TestCase):
    def test_events_and_the_table(self):
        device = "cuda" if GPUS else "cpu"
        x = tandem.ones(50, 50, device=device)
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA], record_shapes=True) as profile:
            with profiler.record_function("my part"):
                here = line()
                y = x @ x  # noqa: E702
            y.sum().item()
        events = {event.name: event for event in profile.events()}
        self.assertLessEqual({"my part", "mm", "sum"}, set(events))
        self.assertEqual((os.path.basename(events["mm"].file), events["mm"].line), (HERE, here))
        self.assertTrue(events["my part"].start <= events["mm"].start)
        for key in ("self_cpu_memory_usage", "cpu_memory_usage", "self_cuda_memory_usage", "device_memory_usage"):
            self.assertIn("CPU", profile.key_averages().table(sort_by=key))
        table = profile.key_averages().table(sort_by="cpu_time_total", row_limit=10)
        self.assertIn("my part", table)
        self.assertIn("# of Calls", table)
        self.assertIn("Self CPU time total", str(profile.key_averages()))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            profile.export_chrome_trace(path)
            with open(path) as file:
                trace = json.load(file)
            named = {event["name"]: event for event in trace["traceEvents"] if event["ph"] == "X"}
            self.assertEqual(named["mm"]["args"]["line"], here)
            profile.export_flame_graph(os.path.join(folder, "flames.html"))
            with open(os.path.join(folder, "flames.html")) as file:
                self.assertIn("mm", file.read())

    def test_steps(self):
        ready = []
        with profiler.profile(
            schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: ready.append(len(p.events()))
        ) as profile:
            for _ in range(6):
                tandem.ones(3).add(1)
                profile.step()
        self.assertEqual(len(ready), 1)
        self.assertGreater(ready[0], 0)
        schedule = profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        self.assertEqual([schedule(i).name for i in range(5)], ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE"])

    def test_an_error_of_the_callback(self):
        def ready(profile):
            raise KeyError("ready")

        with self.assertRaises(KeyError):
            with profiler.profile(on_trace_ready=ready):
                tandem.ones(3).add(1)
        with profiler.profile() as profile:  # and it can be used again
            tandem.ones(3).add(1)
        self.assertIn("add", [event.name for event in profile.events()])

    def test_decorated(self):
        @profiler.record_function("named")
        def work(a):
            """What it says."""
            return a + 1

        with profiler.profile() as profile:
            self.assertEqual(work(tandem.ones(1)).item(), 2.0)
        self.assertEqual((work.__name__, [e.name for e in profile.events()].count("named")), ("work", 1))


class Tables(unittest.TestCase):
    def test_smi(self):
        if GPUS:
            x = tandem.ones(2**20, device="cuda")
        table = tandem.smi()
        self.assertIn("tandem smi", table)
        self.assertEqual(repr(table), str(table))
        for i in range(GPUS):
            self.assertIn(cuda.get_device_name(i), table)
        if GPUS:
            self.assertIn(str(os.getpid()), table)
            del x

    def test_what_is_printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print(tandem.tensor([1.0]), tandem.tensor(2.5), tandem.Size([1]))
        self.assertEqual(out.getvalue(), "tensor([1.]) tensor(2.5000) tandem.Size([1])\n")


class Lines(unittest.TestCase):
    """Where an error came from."""

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_of_code_without_a_file(self):
        source = "\n\nx = tandem.ones(2, device='cuda').sum().item()\n"
        with ledger.Recorder() as recorder:
            exec(compile(source, "<cell 7>", "exec"), {"tandem": tandem})
            exec(compile("tandem.ones(2, device='cuda').sum().item()", "<other>", "exec"), {"tandem": tandem})
        self.assertEqual([(entry.file, entry.line) for entry in recorder.entries], [("<cell 7>", 3), ("<other>", 1)])

    @unittest.skipIf(GPUS == 0, "needs a GPU, a virtual one will do")
    def test_of_many_short_lived_functions(self):
        for i in range(300):
            space = {"tandem": tandem}
            exec(compile("\n" * i + "def f(x): return x.sum().item()", f"<cell {i}>", "exec"), space)
            x = tandem.ones(1, device="cuda")
            with ledger.Recorder() as recorder:
                space["f"](x)
            self.assertEqual([(entry.file, entry.line) for entry in recorder.entries], [(f"<cell {i}>", i + 1)])
            space.clear()


if __name__ == "__main__":
    unittest.main()
