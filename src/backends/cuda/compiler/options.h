/*
 * options.h - option strings as the compilers take them: word by word.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_OPTIONS_H
#define INGOT_BACKENDS_CUDA_COMPILER_OPTIONS_H

#include <ingot/backend.h>

struct cuda_options {
    const char **words;
    size_t count;
    size_t capacity;
    char *chars;
    size_t chars_size;
};

/* The words of one text after the other's, with room for some more. To be ended even after a failure. */
ingot_status_t cuda_options_init(struct cuda_options *options, const ingot_allocator_t *allocator, const char *first,
                                 const char *second, size_t room);
void cuda_options_fini(struct cuda_options *options, const ingot_allocator_t *allocator);

/* One more word, which must last as long as the options, into the room. */
void cuda_options_add(struct cuda_options *options, const char *word);
/* Takes --gpu-architecture and -arch out: what the last one says, or NULL where neither stands. */
const char *cuda_options_take_architecture(struct cuda_options *options);

#endif
