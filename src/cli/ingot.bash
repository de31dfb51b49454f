# Completion of ingot(1) for bash: commands, options, the names of entries, and files.

_ingot() {
    local words= tool=$1 word=$2 command=${COMP_WORDS[1]}
    if ((COMP_CWORD == 1)); then
        words=$("$tool" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
    elif [[ $word == -* ]]; then
        words=$("$tool" help "$command" 2>/dev/null | sed -n 's/^ \{2,6\}\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p')
    elif [[ $command == show || $command == explain ]]; then
        words=$("$tool" ls --names 2>/dev/null)
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _ingot ingot
