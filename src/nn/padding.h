// Padding of the last one, two and three dimensions, as modules.
#pragma once

#include <string>

#include "nn/module.h"
#include "ops/window.h"

namespace tandem::nn {

/// Elements around the last dimensions: `padding` is one number for all sides, or (before, behind) of the last dimension, then of the one
/// before it, and so on. Negative ones cut.
struct PadNd : Module {
  Shape padding;

  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  PadNd(int spatial, const char* mode, const PerDim& padding);

 private:
  const char* mode_;
  int spatial_;
};

/// `value` in the new places. As torch.nn.ConstantPad1d, ConstantPad2d and ConstantPad3d.
template <int Spatial>
struct ConstantPadOf : PadNd {
  Scalar value;

  ConstantPadOf(const PerDim& padding_, Scalar value_) : PadNd(Spatial, "constant", padding_), value(value_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};
extern template struct ConstantPadOf<1>;
extern template struct ConstantPadOf<2>;
extern template struct ConstantPadOf<3>;

/// Zeros. As torch.nn.ZeroPad1d, ZeroPad2d and ZeroPad3d.
template <int Spatial>
struct ZeroPadOf : PadNd {
  explicit ZeroPadOf(const PerDim& padding_) : PadNd(Spatial, "constant", padding_) {}
};
/// The elements mirrored at the edge, which is not repeated. As torch.nn.ReflectionPad1d, ReflectionPad2d and ReflectionPad3d.
template <int Spatial>
struct ReflectionPadOf : PadNd {
  explicit ReflectionPadOf(const PerDim& padding_) : PadNd(Spatial, "reflect", padding_) {}
};
/// The edge repeated. As torch.nn.ReplicationPad1d, ReplicationPad2d and ReplicationPad3d.
template <int Spatial>
struct ReplicationPadOf : PadNd {
  explicit ReplicationPadOf(const PerDim& padding_) : PadNd(Spatial, "replicate", padding_) {}
};
/// The elements of the other side. As torch.nn.CircularPad1d, CircularPad2d and CircularPad3d.
template <int Spatial>
struct CircularPadOf : PadNd {
  explicit CircularPadOf(const PerDim& padding_) : PadNd(Spatial, "circular", padding_) {}
};

struct ConstantPad1d : ConstantPadOf<1> {
  using ConstantPadOf::ConstantPadOf;
};
struct ConstantPad2d : ConstantPadOf<2> {
  using ConstantPadOf::ConstantPadOf;
};
struct ConstantPad3d : ConstantPadOf<3> {
  using ConstantPadOf::ConstantPadOf;
};
struct ZeroPad1d : ZeroPadOf<1> {
  using ZeroPadOf::ZeroPadOf;
};
struct ZeroPad2d : ZeroPadOf<2> {
  using ZeroPadOf::ZeroPadOf;
};
struct ZeroPad3d : ZeroPadOf<3> {
  using ZeroPadOf::ZeroPadOf;
};
struct ReflectionPad1d : ReflectionPadOf<1> {
  using ReflectionPadOf::ReflectionPadOf;
};
struct ReflectionPad2d : ReflectionPadOf<2> {
  using ReflectionPadOf::ReflectionPadOf;
};
struct ReflectionPad3d : ReflectionPadOf<3> {
  using ReflectionPadOf::ReflectionPadOf;
};
struct ReplicationPad1d : ReplicationPadOf<1> {
  using ReplicationPadOf::ReplicationPadOf;
};
struct ReplicationPad2d : ReplicationPadOf<2> {
  using ReplicationPadOf::ReplicationPadOf;
};
struct ReplicationPad3d : ReplicationPadOf<3> {
  using ReplicationPadOf::ReplicationPadOf;
};
struct CircularPad1d : CircularPadOf<1> {
  using CircularPadOf::CircularPadOf;
};
struct CircularPad2d : CircularPadOf<2> {
  using CircularPadOf::CircularPadOf;
};
struct CircularPad3d : CircularPadOf<3> {
  using CircularPadOf::CircularPadOf;
};

}  // namespace tandem::nn
