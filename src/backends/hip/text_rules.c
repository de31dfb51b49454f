/*
 * text_rules.c - describes which options hipRTC accepts and how it finds included files. It is clang: the rules come
 * from clang's documentation and from experiments.
 *
 * The list below has no options that read or write files, or that change where clang looks for files. Neither has it
 * -g, whose result has the random path of the file that hipRTC writes the text to, and -mllvm, some of whose options
 * read files. A program with one of these is not cacheable. The rule for quotes is that of rtc/options.c, which splits
 * options into words.
 */
#include "backends/hip/backend.h"

static const char *const options[] = {
    "--offload-arch=*",
    "--gpu-architecture=*",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Ofast",
    "-std=*",
    "--std=*",
    "-w",
    "-W",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-*",
    "-ffast-math",
    "-fno-fast-math",
    "-ffp-contract=*",
    "-fdenormal-fp-math=*",
    "-fgpu-flush-denormals-to-zero",
    "-fno-gpu-flush-denormals-to-zero",
    "-fgpu-approx-transcendentals",
    "-fno-gpu-approx-transcendentals",
    "-fno-math-errno",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-fassociative-math",
    "-freciprocal-math",
    "-ffinite-math-only",
    "-fno-exceptions",
    "-fno-rtti",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-mcumode",
    "-mno-cumode",
    "-mwavefrontsize64",
    "-mno-wavefrontsize64",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "--gpu-max-threads-per-block=*",
    NULL,
};
static const char *const variables[] = {"HIPRTC_COMPILE_OPTIONS_APPEND", NULL};

void hip_get_text_rules(void *state, ingot_text_rules_t *rules)
{
    (void)state;
    rules->option_quotes = INGOT_QUOTES_SHELL;
    rules->current_directory = INGOT_CURRENT_NEVER;
    rules->unnamed_source = "CompileSource";
    rules->options = options;
    rules->option_variables = variables;
    rules->assembler_reads_files = 1;
}
