"""Models whose stages run on one rank each, fed with parts of a batch, by the names of torch.distributed.pipelining.

stage = PipelineStage(part, rank, world_size, device); schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn);
schedule.step(x) on the first rank, schedule.step() between, schedule.step(target=y, losses=losses) on the last.
"""

from tandem.distributed.pipelining.schedules import Schedule1F1B, ScheduleGPipe
from tandem.distributed.pipelining.stage import PipelineStage

__all__ = ["PipelineStage", "Schedule1F1B", "ScheduleGPipe"]
