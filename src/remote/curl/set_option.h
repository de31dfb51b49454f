/*
 * set_option.h - sets an option of a libcurl handle, in a function that returns a CURLcode.
 */
#ifndef INGOT_REMOTE_CURL_SET_OPTION_H
#define INGOT_REMOTE_CURL_SET_OPTION_H

#include <curl/curl.h>

/* Returns from the function if libcurl refuses the option. */
#define SET_OPTION(easy, option, value)                                                                                \
    do {                                                                                                               \
        const CURLcode set_code = curl_easy_setopt((easy), (option), (value));                                         \
        if (set_code != CURLE_OK)                                                                                      \
            return set_code;                                                                                           \
    } while (0)

#endif
