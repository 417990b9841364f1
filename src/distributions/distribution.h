// The base of all distributions.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributions/constraint.h"
#include "tensor/tensor.h"

namespace tandem::distributions {

/// Options of every distribution.
struct DistributionOptions {
  /// Whether parameters and values are checked, for which a GPU is waited for; Distribution::set_default_validate_args says what holds
  /// else.
  std::optional<bool> validate_args = {};
};

/// A parameter of a distribution, and what it has to be.
struct Parameter {
  const char* name;
  Tensor value;
  Constraint constraint;
};

/// A distribution, or a batch of them, of sizes batch_shape; a sample of one has the sizes event_shape. Distributions are values that do
/// not change: copies share the parameters. Samples and results have the parameters' dtype and device. As torch.distributions.Distribution.
class Distribution {
 public:
  virtual ~Distribution() = default;

  /// Whether parameters and values are checked where a distribution's options say nothing: true unless changed. Of the whole process.
  static void set_default_validate_args(Flag value);

  /// The class: "Normal".
  [[nodiscard]] const char* name() const { return name_; }
  /// "Normal(loc: 0, scale: [3])": of each parameter the number, or the sizes.
  [[nodiscard]] virtual std::string repr() const;
  /// The sizes of independent distributions.
  [[nodiscard]] const Shape& batch_shape() const { return batch_shape_; }
  /// The sizes of one sample.
  [[nodiscard]] const Shape& event_shape() const { return event_shape_; }
  /// What the parameters have to be, and their values.
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Whether rsample() is there.
  [[nodiscard]] virtual bool has_rsample() const { return true; }
  /// Whether enumerate_support() is there.
  [[nodiscard]] virtual bool has_enumerate_support() const { return false; }
  /// What values a sample may have.
  [[nodiscard]] virtual Constraint support() const = 0;

  /// The mean, of sizes batch_shape + event_shape; nan or infinite where there is none.
  [[nodiscard]] Tensor mean(Site site = Site::here()) const;
  /// The likeliest value. NotImplementedError where no formula is known.
  [[nodiscard]] Tensor mode(Site site = Site::here()) const;
  /// The variance of each element.
  [[nodiscard]] Tensor variance(Site site = Site::here()) const;
  /// Its square root.
  [[nodiscard]] Tensor stddev(Site site = Site::here()) const;
  /// Samples, of sizes sample_shape + batch_shape + event_shape, without gradients. TypeError for parameters that are not floating.
  [[nodiscard]] Tensor sample(const Shape& sample_shape = {}, Site site = Site::here()) const;
  /// The same with gradients that reach the parameters. NotImplementedError where has_rsample() is false.
  [[nodiscard]] Tensor rsample(const Shape& sample_shape = {}, Site site = Site::here()) const;
  /// The logarithm of the density, or of the probability, at a value, which broadcasts with batch_shape + event_shape; sizes without those
  /// of the event. ValueError for a value outside the support, unless nothing is validated.
  [[nodiscard]] Tensor log_prob(const Operand& value, Site site = Site::here()) const;
  /// The probability of the value or less. ValueError as log_prob; NotImplementedError where no formula is known.
  [[nodiscard]] Tensor cdf(const Operand& value, Site site = Site::here()) const;
  /// The value whose cdf is this. NotImplementedError where no formula is known.
  [[nodiscard]] Tensor icdf(const Operand& value, Site site = Site::here()) const;
  /// The entropy in nats, of sizes batch_shape. NotImplementedError where no formula is known.
  [[nodiscard]] Tensor entropy(Site site = Site::here()) const;
  /// exp of the entropy.
  [[nodiscard]] Tensor perplexity(Site site = Site::here()) const;
  /// All values of a discrete distribution, along a first dimension; `expand` repeats them over the batch, else its sizes are 1.
  /// NotImplementedError where has_enumerate_support() is false.
  [[nodiscard]] Tensor enumerate_support(Flag expand = true, Site site = Site::here()) const;
  /// The same distribution for a larger batch, to which batch_shape broadcasts: views of the parameters. Error where it does not.
  [[nodiscard]] std::unique_ptr<Distribution> expand(const Shape& batch_shape, Site site = Site::here()) const;
  /// A copy.
  [[nodiscard]] virtual std::unique_ptr<Distribution> clone() const = 0;

 protected:
  /// With a `name` that lives on; the first parameter's sizes are batch_shape and what its constraint says of one value. ValueError for
  /// parameters that are not as their constraints say, where they are checked.
  Distribution(const char* name, std::vector<Parameter> parameters, const Shape& event_shape, const std::optional<bool>& validate_args,
               Site site);
  /// The same with sizes of the batch that no parameter says.
  Distribution(const char* name, std::vector<Parameter> parameters, const Shape& batch_shape, const Shape& event_shape,
               const std::optional<bool>& validate_args, Site site);
  Distribution(const Distribution&);
  Distribution& operator=(const Distribution&);

  /// A parameter's value.
  [[nodiscard]] const Tensor& parameter(size_t i) const { return parameters_[i].value; }
  /// sample_shape + batch_shape + event_shape.
  [[nodiscard]] Shape extended_shape(const Shape& sample_shape = {}) const;
  /// Whether parameters and values are checked.
  [[nodiscard]] bool validates() const { return validate_args_; }
  /// ValueError for a parameter that does not satisfy one more constraint.
  void require(size_t i, const Constraint& constraint, Site site) const;
  /// An error that says what this class lacks.
  [[noreturn]] void missing(const char* what) const;

  // What classes give; each is called by the public function of that name, with checked values.
  [[nodiscard]] virtual Tensor do_mean() const = 0;
  [[nodiscard]] virtual Tensor do_mode() const { missing("mode"); }
  [[nodiscard]] virtual Tensor do_variance() const = 0;
  [[nodiscard]] virtual Tensor do_sample(const Shape& shape) const { return do_rsample(shape); }  // shape: the extended one
  [[nodiscard]] virtual Tensor do_rsample(const Shape&) const { missing("rsample"); }
  [[nodiscard]] virtual Tensor do_log_prob(const Tensor& value) const = 0;
  [[nodiscard]] virtual Tensor do_cdf(const Tensor&) const { missing("cdf"); }
  [[nodiscard]] virtual Tensor do_icdf(const Tensor&) const { missing("icdf"); }
  [[nodiscard]] virtual Tensor do_entropy() const { missing("entropy"); }
  /// Along a first dimension, followed by sizes 1 for the batch.
  [[nodiscard]] virtual Tensor do_enumerate_support() const { missing("enumerate_support"); }
  /// What values cdf takes.
  [[nodiscard]] virtual Constraint cdf_support() const { return support(); }
  /// This distribution for another batch.
  virtual void do_expand(const Shape& batch_shape);

 private:
  template <class Self, class Base>
  friend class DistributionOf;
  /// ValueError for a value that is not in `support`, or does not fit the sizes.
  void check_value(const Tensor& value, const Constraint& support) const;
  [[nodiscard]] Tensor as_value(const Operand& value) const;
  void check_samples(const char* what) const;
  void expand_here(const Shape& batch_shape, Site site);

  const char* name_;
  std::vector<Parameter> parameters_;
  Shape batch_shape_, event_shape_;
  bool validate_args_;
};

/// As repr().
std::ostream& operator<<(std::ostream& out, const Distribution& distribution);

/// The base of a class `Self`: what gives distributions of the same class.
template <class Self, class Base = Distribution>
class DistributionOf : public Base {
 public:
  /// The same distribution for a larger batch, to which batch_shape broadcasts: views of the parameters. Error where it does not.
  [[nodiscard]] Self expand(const Shape& batch_shape, Site site = Site::here()) const {
    Self made = static_cast<const Self&>(*this);
    static_cast<Distribution&>(made).expand_here(batch_shape, site);
    return made;
  }
  [[nodiscard]] std::unique_ptr<Distribution> clone() const override { return std::make_unique<Self>(static_cast<const Self&>(*this)); }

 protected:
  using Base::Base;
};

namespace detail {

/// A parameter as the user gave it.
struct Given {
  const char* name;
  const Operand& value;
  Constraint constraint;
};
/// Numbers and tensors as tensors of sizes in common; numbers have the first tensor's dtype and device, or the default ones. Error for
/// sizes that do not broadcast, and for tensors of several devices.
[[nodiscard]] std::vector<Parameter> broadcast_all(const char* distribution, std::initializer_list<Given> given, Site site);
/// The operand as a tensor; a number on the device of `like` and with its dtype where that is floating, else with the default one.
[[nodiscard]] Tensor as_tensor(const Operand& value, const Tensor& like = Tensor());

}  // namespace detail
}  // namespace tandem::distributions
