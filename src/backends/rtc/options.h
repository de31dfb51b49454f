/*
 * options.h - splits option strings into the words that the compilers take.
 */
#ifndef INGOT_BACKENDS_RTC_OPTIONS_H
#define INGOT_BACKENDS_RTC_OPTIONS_H

#include <ingot/private/backend.h>

struct rtc_options {
    const char **words;
    size_t count;
    size_t capacity;
    char *chars;
    size_t chars_size;
};

/* Splits both strings into one list of words, with room for `room` more words. The caller must call rtc_options_fini,
 * even after a failure. */
ingot_status_t rtc_options_init(struct rtc_options *options, const ingot_allocator_t *allocator, const char *first,
                                const char *second, size_t room);
void rtc_options_fini(struct rtc_options *options, const ingot_allocator_t *allocator);

/* Adds a word, which must live as long as the options. The options must have room for it. */
void rtc_options_add(struct rtc_options *options, const char *word);
/* Removes the options that name an architecture, whose two spellings these are. Returns the value of the last one, or
 * NULL if there is none. */
const char *rtc_options_take_architecture(struct rtc_options *options, const char *name, const char *short_name);

#endif
