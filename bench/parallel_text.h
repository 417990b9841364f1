// `./dev bench parallel` in lines for people: each part is printed when it has been measured.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/parallel_moves.h"

namespace tandem::bench {

/// Rows of one case, a number of GPUs each.
void print_cases(const nlohmann::ordered_json& rows);
void print_overlap(const Overlap& overlap);
void print_moves(const std::vector<Moved>& rows);
/// What the model says for each of `links`, behind what it supposes.
void print_model(const nlohmann::ordered_json& rows, const std::vector<std::string>& links);

}  // namespace tandem::bench
