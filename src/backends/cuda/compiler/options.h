/*
 * options.h - splits option strings into the words that the compilers take.
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

/* Splits both strings into one list of words, with room for `room` more words. The caller must call cuda_options_fini,
 * even after a failure. */
ingot_status_t cuda_options_init(struct cuda_options *options, const ingot_allocator_t *allocator, const char *first,
                                 const char *second, size_t room);
void cuda_options_fini(struct cuda_options *options, const ingot_allocator_t *allocator);

/* Adds a word, which must live as long as the options. The options must have room for it. */
void cuda_options_add(struct cuda_options *options, const char *word);
/* Removes --gpu-architecture and -arch. Returns the value of the last one, or NULL if there is none. */
const char *cuda_options_take_architecture(struct cuda_options *options);

#endif
