/*
 * sink.h - what an operation of a backend writes.
 */
#pragma once

#include <string>

extern "C" {
#include "core/base/sink.h"
}

struct Sink {
    ingot_allocator_t allocator{};
    ingot_sink_t sink{};

    Sink()
    {
        memory_init(&allocator, nullptr);
        bytes_writer_init(&sink.writer, &allocator);
    }
    Sink(const Sink &) = delete;
    Sink &operator=(const Sink &) = delete;
    ~Sink() { bytes_writer_fini(&sink.writer); }
    ingot_sink_t *get() { return &sink; }
    std::string text() const { return {reinterpret_cast<const char *>(sink.writer.bytes), sink.writer.size}; }
};
