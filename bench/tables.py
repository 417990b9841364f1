"""Tables, for terminals and in Markdown."""


def table_text(header, rows):
    """A table to read in a terminal."""
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def markdown_table(header, rows):
    """The same in Markdown."""
    return "\n".join(["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *("| " + " | ".join(row) + " |" for row in rows)])
