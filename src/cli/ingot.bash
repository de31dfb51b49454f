# Completion of ingot(1) for bash. The tool itself knows what may follow.

_ingot_command() { # completes a command that begins at word $1
    local word=${COMP_WORDS[COMP_CWORD]}
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif (($1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

_ingot() {
    local line word=${COMP_WORDS[COMP_CWORD]}
    local -a lines
    [[ $word != = ]] || word=
    COMPREPLY=()
    mapfile -t lines < <("${COMP_WORDS[0]}" --complete "$COMP_CWORD" "${COMP_WORDS[@]:1}" 2>/dev/null)
    for line in "${lines[@]}"; do
        case $line in
        $'\tfile') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
        $'\tfolder') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word") ;;
        $'\tcommand '*) _ingot_command "${line##* }" ;;
        *) COMPREPLY+=("$line") ;;
        esac
    done
}

complete -F _ingot ingot
