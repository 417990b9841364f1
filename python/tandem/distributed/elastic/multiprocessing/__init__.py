"""Part of the names of torch.distributed.elastic."""
