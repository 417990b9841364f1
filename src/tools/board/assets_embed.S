// The page's files, inside the program: tandem_board_html .. tandem_board_html_end, and so on.
  .section .rodata
  .macro asset name, file
  .global tandem_board_\name
  .global tandem_board_\name\()_end
tandem_board_\name:
  .incbin "\file"
tandem_board_\name\()_end:
  .byte 0
  .endm
  asset html, "page.html"
  asset css, "page.css"
  asset js, "page.js"
  asset charts, "charts.js"
  .section .note.GNU-stack, "", %progbits
