#include "libtorch/data_chunk.h"

namespace torch::data::datasets {

ChunkDatasetOptions::ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size, size_t cross_chunk_shuffle_count)
    : preloader_count_(preloader_count),
      batch_size_(batch_size),
      cache_size_(cache_size),
      cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
  if (preloader_count == 0) tandem::fail("[ChunkDataset] Preloader count is 0. At least one preloader needs to be specified.");
  if (batch_size == 0) tandem::fail("[ChunkDataset] Batch size is 0. A positive batch size needs to be specified.");
  if (cache_size == 0) tandem::fail("[ChunkDataset] Cache size is 0. A positive cache size needs to be specified.");
  if (cache_size < batch_size)
    tandem::fail("[ChunkDataset] Cache size is less than batch size. Cache needs to be large enough to hold at least one batch.");
  if (cross_chunk_shuffle_count == 0) tandem::fail("[ChunkDataset] cross_chunk_shuffle_count needs to be greater than 0.");
}

}  // namespace torch::data::datasets
