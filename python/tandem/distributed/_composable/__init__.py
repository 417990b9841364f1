"""The older place of torch.distributed.fsdp's fully_shard."""
