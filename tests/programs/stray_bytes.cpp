// Bytes before a marker of a JPEG are warned of once in a process, however many pictures have some.
#include <tandem/tandem.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "check.h"

namespace td = tandem;

int main() {
  const td::Tensor picture = (td::arange(32) * 8).expand({3, 24, 32}).contiguous().to(td::kUInt8);
  td::data::write_jpeg(picture, "plain.jpg");
  std::ifstream file("plain.jpg", std::ios::binary);
  const std::string plain(std::istreambuf_iterator<char>(file), {});

  std::vector<std::string> warnings;
  td::set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  for (const size_t count : {3, 5, 3}) {
    std::string more = plain;
    more.insert(more.find("\xff\xc0"), count, '\1');
    std::ofstream("more.jpg", std::ios::binary) << more;
    CHECK(td::equal(td::data::read_image("more.jpg"), td::data::read_image("plain.jpg")));
  }
  CHECK(warnings.size() == 1);
  CHECK(warnings[0] ==
        "[read_image] more.jpg: libjpeg says: Corrupt JPEG data: 3 extraneous bytes before marker 0xc0; what is no part of the pixels is "
        "passed "
        "over, here and in other files");
  return finish();
}
