/*
 * file_name.c - makes file names for the texts of a recipe; see file_name.h.
 */
#include "cli/commands/recipe/file_name.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CHARACTERS = 120 };

static const char *default_name(ingot_source_kind_t kind)
{
    switch (kind) {
    case INGOT_SOURCE_OPENCL_C: return "source.cl";
    case INGOT_SOURCE_SPIRV: return "module.spv";
    case INGOT_SOURCE_CUDA_CPP: return "source.cu";
    case INGOT_SOURCE_PTX: return "module.ptx";
    case INGOT_SOURCE_HEADER: return "header.h";
    default: return "source";
    }
}

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

void file_name_make(const char *name, ingot_source_kind_t kind, bool has_number, size_t number,
                    char file_name[FILE_NAME_SIZE])
{
    char plain[MOST_CHARACTERS + 1];
    size_t length = 0;
    const size_t name_length = strlen(name);
    /* keep the end of a long name, because the suffix is there */
    const char *from = name_length > MOST_CHARACTERS ? name + name_length - MOST_CHARACTERS : name;
    for (; *from != '\0'; ++from, ++length) {
        const bool is_kept = is_plain(*from) && (length != 0 || (*from != '.' && *from != '-'));
        plain[length] = is_kept ? *from : '_';
    }
    plain[length] = '\0';
    const char *chosen = length != 0 ? plain : default_name(kind);
    const bool is_taken = strcmp(chosen, "program.txt") == 0;
    if (has_number)
        (void)snprintf(file_name, FILE_NAME_SIZE, "%zu-%s", number, chosen);
    else
        (void)snprintf(file_name, FILE_NAME_SIZE, "%s%s", is_taken ? "_" : "", chosen);
}
