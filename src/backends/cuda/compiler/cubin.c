/*
 * cubin.c - describes cubins; see cubin.h.
 */
#include "backends/cuda/compiler/cubin.h"

#include <string.h>

#define EM_CUDA_MACHINE 190u
#define STO_CUDA_ENTRY 0x10u /* in a symbol's st_other: the symbol is a kernel */

static size_t get_kernel_name(const Elf64_Sym *symbol, const char *name)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & STO_CUDA_ENTRY) != 0 ? strlen(name) : 0;
}

const struct rtc_format cuda_cubin = {"CUDA", "INGOTCUD", EM_CUDA_MACHINE, SHT_SYMTAB, get_kernel_name, NULL};
