#include "libtorch/layers_linear.h"

#include <cmath>

#include "libtorch/functional_linear.h"
#include "nn/init.h"
#include "nn/reset.h"
#include "ops/creation.h"
#include "ops/linalg/products.h"
#include "ops/matmul.h"
#include "ops/random.h"
#include "ops/view.h"

namespace torch::nn {

void IdentityImpl::pretty_print(std::ostream& stream) const { detail::Text(stream, "Identity"); }

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features, Site site) : LinearImpl(LinearOptions(in_features, out_features), site) {}

LinearImpl::LinearImpl(const LinearOptions& options_, Site) : options(options_) { LinearImpl::reset(); }

void LinearImpl::reset() {
  const Site site = detail::making_site();
  const int64_t in = options.in_features(), out = options.out_features();
  if (in < 0 || out < 0) tandem::fail("[Linear] in_features and out_features must not be negative, got ", in, " and ", out);
  weight = register_parameter("weight", tandem::empty({out, in}, {}, site), true, site);
  bias = register_parameter("bias", options.bias() ? tandem::empty({out}, {}, site) : Tensor(), options.bias(), site);
  reset_parameters(site);
}

void LinearImpl::reset_parameters(Site site) { tandem::nn::detail::reset_uniform(weight, bias, site); }

Tensor LinearImpl::forward(const Tensor& input, Site site) { return tandem::linear(input, weight, bias, site); }

void LinearImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Linear")("in_features", options.in_features())("out_features", options.out_features())("bias", options.bias());
}

BilinearImpl::BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features, Site site)
    : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features), site) {}

BilinearImpl::BilinearImpl(const BilinearOptions& options_, Site) : options(options_) { BilinearImpl::reset(); }

void BilinearImpl::reset() {
  const Site site = detail::making_site();
  const int64_t in1 = options.in1_features(), in2 = options.in2_features(), out = options.out_features();
  if (in1 <= 0 || in2 < 0 || out < 0)
    tandem::fail("[Bilinear] needs in1_features > 0 and no negative sizes, got ", in1, ", ", in2, " and ", out);
  weight = register_parameter("weight", tandem::empty({out, in1, in2}, {}, site), true, site);
  bias = register_parameter("bias", options.bias() ? tandem::empty({out}, {}, site) : Tensor(), options.bias(), site);
  reset_parameters(site);
}

void BilinearImpl::reset_parameters(Site site) {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1, site)));
  tandem::nn::init::uniform_(weight, -bound, bound, site);
  if (bias.defined()) tandem::nn::init::uniform_(bias, -bound, bound, site);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2, Site site) {
  return tandem::bilinear(input1, input2, weight, bias, site);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Bilinear")("in1_features", options.in1_features())("in2_features", options.in2_features())(
      "out_features", options.out_features())("bias", options.bias());
}

Tensor FlattenImpl::forward(const Tensor& input, Site site) { return input.flatten(options.start_dim(), options.end_dim(), site); }

void FlattenImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Flatten")("start_dim", options.start_dim())("end_dim", options.end_dim());
}

UnflattenImpl::UnflattenImpl(int64_t dim, std::vector<int64_t> sizes, Site site)
    : UnflattenImpl(UnflattenOptions(dim, std::move(sizes)), site) {}

UnflattenImpl::UnflattenImpl(std::string dimname, UnflattenOptions::namedshape_t namedshape, Site site)
    : UnflattenImpl(UnflattenOptions(std::move(dimname), std::move(namedshape)), site) {}

UnflattenImpl::UnflattenImpl(UnflattenOptions options_, Site) : OptionsOnly(std::move(options_)) {}

Tensor UnflattenImpl::forward(const Tensor& input, Site site) {
  if (!options.dimname().empty())
    tandem::fail<tandem::NotImplementedError>("[Unflatten] dimension \"", options.dimname(),
                                              "\" is given by name, and tensors have no names here: give its number");
  return input.unflatten(options.dim(), options.sizes(), site);
}

void UnflattenImpl::pretty_print(std::ostream& stream) const {
  const char* between = "{";
  if (options.namedshape().empty()) {
    stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size=";
    for (const int64_t size : options.sizes()) stream << std::exchange(between, ", ") << size;
    stream << "})";
    return;
  }
  stream << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size=";
  for (const auto& [name, size] : options.namedshape()) stream << std::exchange(between, ", ") << "{\"" << name << "\", " << size << '}';
  stream << "})";
}

Tensor CosineSimilarityImpl::forward(const Tensor& input1, const Tensor& input2, Site site) {
  return functional::cosine_similarity(input1, input2, options, site);
}

void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "CosineSimilarity")("dim", options.dim())("eps", options.eps());
}

Tensor PairwiseDistanceImpl::forward(const Tensor& input1, const Tensor& input2, Site site) {
  return functional::pairwise_distance(input1, input2, options, site);
}

void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "PairwiseDistance")("p", options.p())("eps", options.eps())("keepdim", options.keepdim());
}

}  // namespace torch::nn
