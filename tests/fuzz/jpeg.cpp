#include "data/image.h"
#include "fuzz.h"

// From a file and from memory, with the channels that it has and with others.
void fuzz::read(std::string_view bytes) {
  using tandem::data::ImageMode;
  constexpr ImageMode kModes[] = {ImageMode::Unchanged, ImageMode::Gray, ImageMode::GrayAlpha, ImageMode::RGB, ImageMode::RGBA};
  const ImageMode mode = kModes[bytes.size() % std::size(kModes)];
  (void)(bytes.size() % 2 ? tandem::data::decode_image(bytes, mode) : tandem::data::read_image(file_of(bytes), mode));
}
