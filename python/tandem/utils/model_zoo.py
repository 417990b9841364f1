"""torch.utils.model_zoo: weights by their address, by their old place."""

from tandem.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
