#compdef fathom
# fathom.zsh - zsh completion of the fathom command; `fathom --complete` lists what may follow (host/options/complete.c).
# Installed as share/zsh/site-functions/_fathom.
_fathom() {
    local line paths=
    local -a candidates
    for line in "${(@f)$(${(Q)words[1]} --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
        :files) paths=files ;;
        :folders) paths=folders ;;
        ?*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#candidates )) && _describe -V fathom candidates
    case $paths in
    files) _files ;;
    folders) _files -/ ;;
    esac
}
if [ "$funcstack[1]" = _fathom ]; then _fathom "$@"; else compdef _fathom fathom; fi
