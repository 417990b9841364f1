"""save_hyperparameters: the arguments that a module was made with, kept in `hparams` and in its checkpoints."""

import copy
import inspect


class AttributeDict(dict):
    """A dictionary whose entries are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"Missing attribute '{name}': there are {', '.join(map(str, self)) or 'none'}") from None

    def __setattr__(self, name, value):
        self[name] = value

    def __repr__(self):
        width = max((len(str(name)) for name in self), default=0)
        return "\n".join(f'"{name}":{" " * (width - len(str(name)) + 1)}{value}' for name, value in self.items())


def _arguments(frame):
    """The arguments of the function that a frame is of, by name, but for the object itself."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = {name: frame.f_locals[name] for name in names[1:] if name in frame.f_locals}
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords = code.co_varnames[len(names) + bool(code.co_flags & inspect.CO_VARARGS)]
        found.update(frame.f_locals.get(keywords, {}))
    return found


def _arguments_of_init(owner, frame):
    """The arguments of `owner.__init__`, from the class that is being made down to the one whose frame this is: the former count."""
    found = {}
    while frame is not None and frame.f_code.co_name == "__init__" and next(iter(frame.f_locals.values()), None) is owner:
        found.update(_arguments(frame))
        frame = frame.f_back
    return found


class HyperParameters:
    """What a LightningModule or LightningDataModule has of hyper parameters."""

    _hparams_name = None  # the argument that all of them came in, where they did

    @property
    def hparams(self):
        """What save_hyperparameters has kept; changing it changes what checkpoints get."""
        return self.__dict__.setdefault("_hparams", AttributeDict())

    @property
    def hparams_initial(self):
        """The same as it was when it was kept."""
        return copy.deepcopy(self.__dict__.get("_hparams_initial", AttributeDict()))

    def save_hyperparameters(self, *args, ignore=None, frame=None, logger=True):
        """Call it in `__init__`: keeps its arguments - all, those that are named, or those in a given dictionary - in `hparams`.

        `ignore` names some to leave out; `logger=False` keeps them out of the loggers."""
        frame = inspect.currentframe().f_back if frame is None else frame
        given = _arguments_of_init(self, frame) or _arguments(frame)
        ignored = {ignore} if isinstance(ignore, str) else set(ignore or ())
        if len(args) == 1 and not isinstance(args[0], str):
            value = args[0]
            self._hparams_name = next((name for name, one in given.items() if one is value), None)
            chosen = dict(value if isinstance(value, dict) else vars(value))
        elif args:
            missing = [name for name in args if name not in given]
            if missing:
                raise ValueError(f"save_hyperparameters: there is no argument {missing[0]}; there are {', '.join(given) or 'none'}")
            chosen = {name: given[name] for name in args}
        else:
            chosen = given
        self.hparams.update({name: value for name, value in chosen.items() if name not in ignored})
        self._log_hyperparams = logger
        self.__dict__["_hparams_initial"] = copy.deepcopy(self.hparams)


def made_of_checkpoint(cls, checkpoint, keywords):
    """An object of the class, of the hyper parameters in a checkpoint and of what is given besides."""
    kept = dict(checkpoint.get("hyper_parameters", {}))
    parameters = inspect.signature(cls.__init__).parameters
    name = checkpoint.get("hparams_name")
    if name and name in parameters and name not in kept:
        return cls(**{name: AttributeDict({**kept, **keywords})})
    kept.update(keywords)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        kept = {name: value for name, value in kept.items() if name in parameters}
    return cls(**kept)
