# fathom.bash - bash completion of the fathom command; `fathom --complete` lists what may follow (host/options/complete.c).
# Installed as share/bash-completion/completions/fathom; by hand: source it.
_fathom() {
    local line=${COMP_LINE:0:COMP_POINT} current candidate kept
    local -a words
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    current=${words[-1]}
    kept=${current%"${current##*[:=]}"} # bash replaces only what follows the last of these
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
        :files)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$kept"}")
            ;;
        :folders)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${current#"$kept"}")
            ;;
        *) COMPREPLY+=("${candidate#"$kept"}") ;;
        esac
    done < <("${words[0]/#\~/$HOME}" --complete "${words[@]:1}" 2>/dev/null)
}
complete -F _fathom fathom
