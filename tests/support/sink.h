/*
 * sink.h - what an operation of a backend writes.
 */
#pragma once

#include <string>

extern "C" {
#include "core/base/sink.h"
}
#include "support/not_copied.h"

struct Sink : NotCopied {
    ingot_allocator_t allocator{};
    ingot_sink_t sink{};

    Sink()
    {
        memory_init(&allocator, nullptr);
        bytes_writer_init(&sink.writer, &allocator);
    }
    ~Sink() { bytes_writer_fini(&sink.writer); }
    ingot_sink_t *get() { return &sink; }
    std::string text() const { return {reinterpret_cast<const char *>(sink.writer.bytes), sink.writer.size}; }
};
