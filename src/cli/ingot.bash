# Completion of ingot(1) for bash.

_ingot_value() { # prints the words that the option $1 takes
    case $1 in
    -s | --sort) echo "created used size name device driver source" ;;
    -o | --order) echo "fifo lru" ;;
    esac
}

_ingot_options() { # prints the options of the command $1
    local common="--dir --namespace --json --help --usage"
    case $1 in
    ls) echo "--kind --device --driver --source --sort --reverse --names $common" ;;
    show | explain | stats | clear | bundle | manifest) echo "$common" ;;
    verify) echo "--repair --require --keys $common" ;;
    key) echo "--secret --pair $common" ;;
    sign) echo "--keys $common" ;;
    evict) echo "--max-size --max-entries --max-age --order $common" ;;
    run) echo "--store --read-only --namespace --trace --record --stats --on-miss --strict --help --usage" ;;
    recount) echo "--dry-run $common" ;;
    remote) echo "--read-only $common" ;;
    push) echo "--kind $common" ;;
    warm) echo "$common" ;;
    pull) echo "--manifest --kind $common" ;;
    extract) echo "--output --kind $common" ;;
    build) echo "--stale --into --bundle --device --jobs --time --memory --require --keys $common" ;;
    recipe) echo "--name --faster --unrecorded $common" ;;
    esac
}

_ingot_entries() { # prints the entries of the store that the command line or else the environment names
    local i
    local -a store=()
    for ((i = 2; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        -d | --dir)
            [[ ${COMP_WORDS[i + 1]} != = ]] || ((++i)) # bash makes three words of --dir=STORE
            store=(--dir "${COMP_WORDS[i + 1]}")
            ;;
        esac
    done
    "${COMP_WORDS[0]}" ls --names "${store[@]}" 2>/dev/null
}

_ingot_run() { # completes the command after "ingot run"; fails if the command has not begun
    local i=2
    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
        --) ((++i)) && break ;;
        -d | -n | -R | --store | --namespace | --record)
            [[ ${COMP_WORDS[i + 1]} != = ]] || ((++i)) # bash makes three words of --store=DIR
            ((i += 2))
            ;;
        =) ((i += 2)) ;; # the = in --trace=FILE
        -*) ((++i)) ;;
        *) break ;;
        esac
    done
    if ((i > COMP_CWORD)) || { ((i == COMP_CWORD)) && [[ ${COMP_WORDS[i]} == -* ]]; }; then
        return 1
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$i"
    elif ((i == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[i]}")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_ingot() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [[ $command == run ]] && _ingot_run; then
        return
    fi
    if ((COMP_CWORD == 1)); then
        local commands="ls show explain verify stats evict clear recount bundle manifest key sign run remote push pull"
        commands+=" warm recipe build extract"
        commands+=" --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        return
    fi
    case $before in
    -d | --dir | --store | -i | --into | --output)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    -n | --namespace | --kind | -D | --device | -V | --driver | -S | --source | --max-*) return ;;
    -J | --jobs | -t | --time | -m | --memory | -N | --name | -f | --faster) return ;;
    esac
    if [[ $before == --sort || $before == --order || ($command == ls && $before == -s) ||
        ($command == evict && $before == -o) ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_ingot_value "$before")" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_ingot_options "$command")" -- "$word")
    elif [[ $command == key && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "create show" -- "$word")
    elif [[ $command == bundle && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "create list extract" -- "$word")
    elif [[ $command == remote && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "check" -- "$word")
    elif [[ $command == recipe && $COMP_CWORD == 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "list show merge prune extract" -- "$word")
    elif [[ $command == @(bundle|manifest|key|build|recipe|sign|warm) || $before == @(--keys|--manifest) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ $command == show || $command == explain || $command == extract ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_ingot_entries)" -- "$word")
        [[ $command != explain ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _ingot ingot
