/*
 * text_rules.c - NVRTC's options and search, as documented and found by experiment; see text_rules.h.
 *
 * Words are split by options.c. Left out, so that they make a program not cacheable, are the options that read or write
 * files or change where they are looked for: --pre-include, --no-source-include, --use-pch and the like, --time,
 * --fdevice-time-trace, --options-file.
 */
#include "backends/cuda/text_rules.h"

static const char *const options[] = {
    "--gpu-architecture=*", "-arch=*", "--device-c", "-dc", "--device-w", "-dw", "--relocatable-device-code=*",
    "-rdc=*",
    "--extensible-whole-program", "-ewp", "--device-debug", "-G", "--generate-line-info", "-lineinfo", "--dopt",
    "-dopt",
    "--dopt=*", "-dopt=*", "--Ofast-compile=*", "-Ofc=*", "--maxrregcount=*", "-maxrregcount=*", "--ftz=*", "-ftz=*",
    "--prec-sqrt=*", "-prec-sqrt=*", "--prec-div=*", "-prec-div=*", "--fmad=*", "-fmad=*", "--use_fast_math",
    "-use_fast_math", "--extra-device-vectorization", "-extra-device-vectorization", "--modify-stack-limit=*",
    "-modify-stack-limit=*", "--dlink-time-opt", "-dlto", "--gen-opt-lto", "--optix-ir", "-optix-ir",
    "--jump-table-density=*", "-jtd=*", "--device-stack-protector=*", "-device-stack-protector=*", "--no-cache",
    "-no-cache", "--frandom-seed=*", "-frandom-seed=*", "--std=*", "-std=*", "--builtin-move-forward=*",
    "-builtin-move-forward=*", "--builtin-initializer-list=*", "-builtin-initializer-list=*", "--disable-warnings",
    "-w",
    "--Wreorder", "-Wreorder", "--warning-as-error=*", "-Werror=*", "--restrict", "-restrict",
    "--device-as-default-execution-space", "-default-device", "--device-int128", "-device-int128", "--device-float128",
    "-device-float128", "--optimization-info=*", "-opt-info=*", "--display-error-number", "-err-no",
    "--no-display-error-number", "-no-err-no", "--diag-error=*", "-diag-error=*", "--diag-suppress=*",
    "-diag-suppress=*", "--diag-warn=*", "-diag-warn=*", "--brief-diagnostics=*", "-brief-diag=*", "--minimal",
    "-minimal", "--fdevice-syntax-only", "-fdevice-syntax-only", "--version-ident=*", "-version-ident=*",
    "--split-compile=*", "-split-compile=*", NULL,
};
static const char *const options_with_value[] = {
    "--gpu-architecture", "-arch",       "--std",        "-std",         "--maxrregcount", "-maxrregcount", "--ftz",
    "-ftz",               "--prec-sqrt", "-prec-sqrt",   "--prec-div",   "-prec-div",      "--fmad",        "-fmad",
    "--diag-error",       "-diag-error", "--diag-suppress", "-diag-suppress", "--diag-warn", "-diag-warn", NULL,
};
static const char *const variables[] = { "NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS", NULL };

void cuda_get_text_rules(void *state, ingot_text_rules_t *rules)
{
    (void)state;
    rules->option_quotes = INGOT_QUOTES_SHELL;
    rules->current_directory = INGOT_CURRENT_NEVER;
    rules->searches_beside_source = 1;
    rules->knows_all_directories = 1;
    rules->unnamed_source = "default_program";
    rules->options = options;
    rules->options_with_value = options_with_value;
    rules->option_variables = variables;
}
