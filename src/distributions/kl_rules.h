// The tables of kl.cpp. For the library.
#pragma once

#include <span>

#include "distributions/distribution.h"

namespace tandem::distributions::detail {

/// The divergence of two distributions, or an undefined tensor where they are not of the rule's classes.
using KlRule = Tensor (*)(const Distribution& p, const Distribution& q);

template <auto formula>
struct KlOf;
/// A formula for a class P and a class Q as a rule for what is of these, or of classes derived from them.
template <class P, class Q, Tensor (*formula)(const P&, const Q&)>
struct KlOf<formula> {
  static Tensor rule(const Distribution& p, const Distribution& q) {
    const auto* const of_p = dynamic_cast<const P*>(&p);
    const auto* const of_q = dynamic_cast<const Q*>(&q);
    return of_p && of_q ? formula(*of_p, *of_q) : Tensor();
  }
};

/// Rules for two of one class (kl.cpp), and for different ones (kl_pairs.cpp).
[[nodiscard]] std::span<const KlRule> kl_of_one_class();
[[nodiscard]] std::span<const KlRule> kl_of_pairs();

}  // namespace tandem::distributions::detail
