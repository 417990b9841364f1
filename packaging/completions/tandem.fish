# Completion of `tandem` for fish: the program itself knows what may follow.
function __tandem_complete
    set -l typed (commandline -opc) (commandline -ct)
    command $typed[1] --complete $typed[2..-1] 2> /dev/null
end
complete -c tandem -a '(__tandem_complete)'
