// The page's files, inside the program: tandem_board_html .. tandem_board_html_end, and so on. Of the scripts
// two are made, each of files one behind the other: what draws the first curves, and the other tabs, which may come later.
  .section .rodata
  .macro asset name, files:vararg
  .global tandem_board_\name
  .global tandem_board_\name\()_end
tandem_board_\name:
  .irp file, \files
  .incbin "\file"
  .endr
tandem_board_\name\()_end:
  .byte 0
  .endm
  asset html, page.html
  asset css, page.css
  asset js, shared.js, charts.js, curves.js, page.js
  asset tabs, table.js, media.js, devices.js, ledger.js, timeline.js
  .section .note.GNU-stack, "", %progbits
