"""torch.random: seeds and states of the random numbers, by another place."""

from ._C import default_generator, manual_seed
from ._random import fork_rng, get_rng_state, initial_seed, seed, set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
