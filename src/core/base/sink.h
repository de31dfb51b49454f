/*
 * sink.h - defines the sink, which is a bytes writer that backends write to.
 */
#ifndef INGOT_CORE_BASE_SINK_H
#define INGOT_CORE_BASE_SINK_H

#include <ingot/backend.h>

#include "core/base/bytes.h"

struct ingot_sink {
    struct bytes_writer writer;
};

#endif
