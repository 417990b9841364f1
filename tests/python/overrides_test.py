"""tandem.overrides: classes with __torch_function__ answer for functions that ask them; and the parts of the data loader by PyTorch's names."""

import unittest

import tandem
from tandem import overrides
from tandem.utils.data import _utils


class Says:
    """Answers for every function with what it was called with."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls.__name__, func.__name__, [one.__name__ for one in types], args, kwargs


class SaysMore(Says):
    pass


class Silent:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def first(a, b=1):
    if overrides.has_torch_function((a,)):
        return overrides.handle_torch_function(first, (a, b), a, b=b)
    return "plain"


class Overrides(unittest.TestCase):
    def test_who_is_asked(self):
        self.assertFalse(overrides.has_torch_function((tandem.ones(1), 3, None)))
        self.assertTrue(overrides.has_torch_function((3, Says())))
        self.assertTrue(overrides.has_torch_function_unary(Says()))
        self.assertFalse(overrides.has_torch_function_variadic(3, tandem.ones(1)))
        self.assertEqual([overrides.is_tensor_like(value) for value in (tandem.ones(1), tandem.nn.Parameter(tandem.ones(1)), Says(), 3)],
                         [True, True, True, False])

    def test_answers(self):
        says, more = Says(), SaysMore()
        self.assertEqual(first(3), "plain")
        self.assertEqual(first(says, b=2), ("Says", "first", ["Says"], (says,), {"b": 2}))
        self.assertEqual(first(says, b=more)[:3], ("SaysMore", "first", ["SaysMore", "Says"]))
        self.assertEqual(first(Silent(), b=says)[0], "Says")
        with self.assertRaisesRegex(TypeError, r"no implementation found for '\w+.first' on types that implement __torch_function__: \[<class '.*Silent'>\]"):
            first(Silent())

    def test_wrapped(self):
        @overrides.wrap_torch_function(lambda a, b=1: (a, b))
        def second(a, b=1):
            """Two."""
            return a + b

        self.assertEqual((second(1), second(1, b=4), second.__name__, second.__doc__), (2, 5, "second", "Two."))
        self.assertEqual(second(1, b=Says())[:3], ("Says", "second", ["Says"]))

    def test_names(self):
        self.assertEqual(overrides.resolve_name(tandem.add), "torch.add")
        self.assertEqual(overrides.resolve_name(tandem.Tensor.add_), "torch.Tensor.add_")
        self.assertIsNone(overrides.resolve_name(print))
        self.assertTrue(overrides.is_tensor_method_or_property(tandem.Tensor.add))
        self.assertFalse(overrides.is_tensor_method_or_property(tandem.add))
        self.assertIn(tandem.zeros, overrides.get_ignored_functions())
        self.assertNotIn(tandem.add, overrides.get_ignored_functions())
        self.assertEqual((overrides.get_overridable_functions(), overrides.get_testing_overrides()), ({}, {}))

    def test_modes_say_that_they_see_nothing(self):
        class Mode(overrides.TorchFunctionMode):
            pass

        with self.assertRaisesRegex(NotImplementedError, "Mode: tandem's functions call no __torch_function__"):
            with Mode():
                pass


class Point:
    def __init__(self, x):
        self.x = x


class LoaderParts(unittest.TestCase):
    def test_own_samples(self):
        parts = _utils.collate
        parts.default_collate_fn_map[Point] = lambda batch, *, collate_fn_map=None: parts.collate([one.x for one in batch], collate_fn_map=collate_fn_map)
        self.addCleanup(parts.default_collate_fn_map.pop, Point)
        self.assertEqual(parts.default_collate([(Point(1), 2.0), (Point(3), 4.0)])[0].tolist(), [1, 3])
        loader = tandem.utils.data.DataLoader([Point(1), Point(2), Point(3)], batch_size=2)
        self.assertEqual([batch.tolist() for batch in loader], [[1, 2], [3]])
        with self.assertRaisesRegex(TypeError, "default_collate: batch must contain tensors.*found <class 'str'>"):
            parts.collate(["a", "b"])

    def test_functions(self):
        parts = _utils.collate
        self.assertEqual(parts.collate_tensor_fn([tandem.ones(2), tandem.zeros(2)]).tolist(), [[1, 1], [0, 0]])
        self.assertEqual(parts.collate_float_fn([1.0]).dtype, tandem.float64)
        self.assertEqual(parts.collate_int_fn([True, False]).dtype, tandem.bool)
        self.assertEqual(parts.collate_str_fn(["a"]), ["a"])
        self.assertIs(parts.default_collate, tandem.utils.data.default_collate)
        fetcher = _utils.fetch._MapDatasetFetcher([5, 6, 7], True, parts.default_collate, False)
        self.assertEqual(fetcher.fetch([2, 0]).tolist(), [7, 5])
        self.assertEqual(_utils.pin_memory.pin_memory(["a", 1]), ["a", 1])
        self.assertIsNone(_utils.worker.get_worker_info())

    def test_imported_by_name(self):
        import tandem.utils.data._utils.collate as collate
        from tandem.utils.data._utils.worker import WorkerInfo

        self.assertIs(collate, _utils.collate)
        self.assertIs(WorkerInfo, tandem.utils.data.WorkerInfo)


if __name__ == "__main__":
    unittest.main()
