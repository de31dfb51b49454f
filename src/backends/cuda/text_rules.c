/*
 * text_rules.c - describes which options NVRTC accepts and how it finds included files. The rules come from NVRTC's
 * documentation and from experiments.
 *
 * The list below has no options that read or write files, or that change where NVRTC looks for files: --pre-include,
 * --no-source-include, --use-pch and similar options, --time, --fdevice-time-trace, --options-file. A program with one
 * of these is not cacheable. The rule for quotes is that of compiler/options.c, which splits options into words.
 */
#include "backends/cuda/backend.h"

#define BOTH(name) "--" name, "-" name /* most options may begin with one hyphen or with two */

static const char *const options[] = {
    "--include-path",
    "--define-macro",
    "--undefine-macro",
    "--gpu-architecture=*",
    "-arch=*",
    "--device-c",
    "-dc",
    "--device-w",
    "-dw",
    "--relocatable-device-code=*",
    "-rdc=*",
    "--extensible-whole-program",
    "-ewp",
    "--device-debug",
    "-G",
    "--generate-line-info",
    "-lineinfo",
    BOTH("dopt"),
    BOTH("dopt=*"),
    "--Ofast-compile=*",
    "-Ofc=*",
    BOTH("maxrregcount=*"),
    BOTH("ftz=*"),
    BOTH("prec-sqrt=*"),
    BOTH("prec-div=*"),
    BOTH("fmad=*"),
    BOTH("use_fast_math"),
    BOTH("extra-device-vectorization"),
    BOTH("modify-stack-limit=*"),
    "--dlink-time-opt",
    "-dlto",
    "--gen-opt-lto",
    BOTH("optix-ir"),
    "--jump-table-density=*",
    "-jtd=*",
    BOTH("device-stack-protector=*"),
    BOTH("no-cache"),
    BOTH("frandom-seed=*"),
    BOTH("std=*"),
    BOTH("builtin-move-forward=*"),
    BOTH("builtin-initializer-list=*"),
    "--disable-warnings",
    "-w",
    BOTH("Wreorder"),
    "--warning-as-error=*",
    "-Werror=*",
    BOTH("restrict"),
    "--device-as-default-execution-space",
    "-default-device",
    BOTH("device-int128"),
    BOTH("device-float128"),
    "--optimization-info=*",
    "-opt-info=*",
    "--display-error-number",
    "-err-no",
    "--no-display-error-number",
    "-no-err-no",
    BOTH("diag-error=*"),
    BOTH("diag-suppress=*"),
    BOTH("diag-warn=*"),
    "--brief-diagnostics=*",
    "-brief-diag=*",
    BOTH("minimal"),
    BOTH("fdevice-syntax-only"),
    BOTH("version-ident=*"),
    BOTH("split-compile=*"),
    NULL,
};
static const char *const options_with_value[] = {
    "--gpu-architecture", "-arch",      BOTH("std"),        BOTH("maxrregcount"),  BOTH("ftz"),       BOTH("prec-sqrt"),
    BOTH("prec-div"),     BOTH("fmad"), BOTH("diag-error"), BOTH("diag-suppress"), BOTH("diag-warn"), NULL,
};
static const char *const variables[] = {"NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS", NULL};

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
