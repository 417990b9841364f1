// The digits set as it ships, compressed, inside the library: tandem_digits_gz .. tandem_digits_gz_end.
  .section .rodata
  .global tandem_digits_gz
  .global tandem_digits_gz_end
  .hidden tandem_digits_gz
  .hidden tandem_digits_gz_end
  .type tandem_digits_gz, %object
  .balign 16
tandem_digits_gz:
  .incbin "digits.csv.gz"
tandem_digits_gz_end:
  .byte 0
  .size tandem_digits_gz, tandem_digits_gz_end - tandem_digits_gz
  .section .note.GNU-stack, "", %progbits
