# fathom.fish - fish completion of the fathom command; `fathom --complete` lists what may follow (host/options/complete.c).
# Installed as share/fish/vendor_completions.d/fathom.fish.
function __fathom_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c fathom -f -a '(__fathom_complete)'
