// Arrays. What is listed of one is what is read.
#include "io/npy.h"

#include "fuzz.h"
#include "io/list_formats.h"

void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  const tandem::io::FileContents contents = tandem::io::list_npy(path);
  expect(contents.tensors.size() == 1, "a file that is listed as another number of arrays than one");
  const tandem::io::FileTensor& listed = contents.tensors[0];
  const tandem::Tensor tensor = tandem::io::load_npy(path);
  expect(listed.dtype == tensor.dtype() && listed.sizes == tensor.sizes() && listed.bytes == tensor.nbytes(),
         "an array that is another one than is listed");
}
