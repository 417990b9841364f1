#include "data/csv.h"

#include "fuzz.h"

// The first byte says how to read the rest.
void fuzz::read(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto how = static_cast<unsigned>(bytes[0]);
  tandem::data::CsvOptions options;
  options.header = how & 1U;
  options.delimiter = ",\t; "[how >> 1U & 3U];
  if (how & 8U) {
    options.missing = std::nullopt;
    options.dtype = tandem::kInt64;
  }
  if (how & 16U) options.categories = {options.header ? "a" : "0"};
  if (how & 32U) options.columns = {options.header ? "b" : "1", options.header ? "a" : "0"};
  if (how & 64U) {
    options.comment = '#';
    options.skip_lines = 1;
  }
  options.whitespace = how & 128U;
  const auto table = tandem::data::read_csv(file_of(bytes.substr(1)), options);
  expect(table.values.size(1) == static_cast<int64_t>(table.names.size()), "a table whose columns are not as many as its names");
  for (const auto& name : table.names) (void)table.column(name);
}
