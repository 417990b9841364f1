// Several processes of one program on one machine: everything in multiprocessing.
#pragma once

#include "process/error.h"
#include "process/event.h"
#include "process/init.h"
#include "process/lock.h"
#include "process/pipe.h"
#include "process/process.h"
#include "process/queue.h"
#include "process/value.h"
