# Completion of `tandem` for bash: the program itself knows what may follow.
_tandem() {
  local name
  COMPREPLY=()
  while IFS=$'\t' read -r name _; do COMPREPLY+=("$name"); done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _tandem tandem
