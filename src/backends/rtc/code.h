/*
 * code.h - reads the ELF files that hold machine code for a GPU: NVIDIA's cubins, and AMD's code objects.
 */
#ifndef INGOT_BACKENDS_RTC_CODE_H
#define INGOT_BACKENDS_RTC_CODE_H

#include <ingot/private/backend.h>

#include <elf.h>
#include <stdbool.h>

/* What distinguishes a vendor's code. */
struct rtc_format {
    const char *vendor;    /* in messages */
    const char *magic;     /* of images with name expressions: 8 characters */
    Elf64_Half machine;    /* in the ELF header */
    Elf64_Word name_table; /* the type of the section with the symbols of kernels */
    /* Returns the length of the kernel's name, which is a part of the symbol's; 0: the symbol is not a kernel. */
    size_t (*kernel_name)(const Elf64_Sym *symbol, const char *name);
    /* Finds the ELF file for an architecture if there are several, and checks those that fit. False: there is none.
     * NULL: code is always one ELF file. */
    bool (*unwrap)(const char *architecture, size_t *size, const uint8_t **bytes);
};

/* True if the bytes are code of this format, which the driver loads without compiling. */
bool rtc_code_is_one(const struct rtc_format *format, size_t size, const uint8_t *bytes);
/* True if all tables and sections of the code are inside the bytes. The driver is not told the size, and would read
 * beyond the end. */
bool rtc_code_is_whole(const struct rtc_format *format, size_t size, const uint8_t *bytes);
/* True if the code must be linked before it can be loaded. */
bool rtc_code_is_relocatable(const struct rtc_format *format, size_t size, const uint8_t *bytes);

/* Calls `visit` with the name of each kernel, until `visit` fails. Returns INGOT_BACKEND_ERROR if the code is
 * malformed. */
ingot_status_t rtc_code_for_each_kernel(const struct rtc_format *format, size_t size, const uint8_t *bytes,
                                        ingot_status_t (*visit)(void *user, size_t length, const char *name),
                                        void *user);

#endif
