/*
 * text.c - text from a store; see text.h.
 */
#include "cli/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

void text_print(const char *text, unsigned indent)
{
    for (; *text != '\0'; ++text) {
        const unsigned char c = (unsigned char)*text;
        /* U+0080 to U+009F command terminals too; in UTF-8 they begin with the byte 0xc2. */
        const bool is_c1 = c == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80;
        if (is_c1)
            ++text;
        if (c == '\n')
            (void)printf("\n%*s", (int)indent, "");
        else
            (void)putchar((c < 0x20 && c != '\t') || c == 0x7f || is_c1 ? '?' : c);
    }
}

bool text_contains(const char *text, const char *part)
{
    return text != NULL && strcasestr(text, part) != NULL;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; ++text)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

char *text_append(char *text, const char *separator, const char *more)
{
    const size_t size = (text != NULL ? strlen(text) + strlen(separator) : 0) + strlen(more) + 1;
    char *joined = memory_get(size);
    (void)snprintf(joined, size, "%s%s%s", text != NULL ? text : "", text != NULL ? separator : "", more);
    free(text);
    return joined;
}
