// Training: everything in train.
#pragma once

#include "train/board.h"
#include "train/callback.h"
#include "train/checkpoint.h"
#include "train/data_module.h"
#include "train/live_board.h"
#include "train/memory_recorder.h"
#include "train/metrics.h"
#include "train/module.h"
#include "train/report.h"
#include "train/summary_writer.h"
#include "train/tensorboard_logger.h"
#include "train/trainer.h"
