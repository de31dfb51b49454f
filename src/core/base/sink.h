/*
 * sink.h - defines the sink: a bytes writer (bytes.h) that a backend fills.
 */
#ifndef INGOT_CORE_BASE_SINK_H
#define INGOT_CORE_BASE_SINK_H

#include <ingot/private/backend.h>

#include "core/base/bytes.h"

struct ingot_sink {
    struct bytes_writer writer;
};

#endif
