// Kernel calls and copies of bytes: which stream they go to, what they wait for, how trouble is told.
#include "runtime/launch.h"

#include <bit>
#include <cstring>

#include "base/dtype.h"
#include "base/error.h"
#include "base/error_place.h"
#include "base/wait_hook.h"
#include "base/work_site.h"
#include "runtime/capture.h"
#include "runtime/driver.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"
#include "runtime/tracer.h"

namespace tandem::runtime {

Queue Launch::device_queue(Device device, const char* op, Site site) {
  return require_driver().queue(current_stream(device.index())->handle, op, tandem::detail::site_of_work(site));
}

void Launch::throw_reported(const Queue& queue, const Status& status) {
  const Trouble trouble = status.trouble.load();
  throw_trouble(queue.op, trouble, trouble_text(queue.op, trouble, status.a.load(), status.b.load()));
}

void throw_trouble(std::string_view op, Trouble trouble, const std::string& text, Site queued_at) {
  const auto placed = [&]<class E>(E error) {
    if (queued_at.line) tandem::detail::ErrorPlace::set_line_of_message(error, queued_at);
    return error;
  };
  switch (trouble) {
    case Trouble::IndexOutOfRange:
      if (op == "gather" || op.starts_with("scatter")) throw placed(Error(text));  // as PyTorch's
      throw placed(IndexError(text));
    case Trouble::Unsupported: throw placed(NotImplementedError(text));
    case Trouble::Singular:
    case Trouble::NotPositive:
    case Trouble::NoConvergence: throw placed(LinAlgError(text));
    default: throw placed(Error(text));
  }
}

namespace {

std::string batch_element(int64_t at) { return at < 0 ? std::string() : str("(Batch element ", at, "): "); }

}  // namespace

std::string trouble_text(const char* op, Trouble trouble, int64_t a, int64_t b) {
  switch (trouble) {
    case Trouble::IndexOutOfRange: {
      // PyTorch's words first, where it has some of an operation's own.
      const std::string_view name = op;
      const bool classes = name == "cross_entropy" || name == "nll_loss",
                 rows = name == "embedding" || name == "embedding_bag" || name == "index_select";
      const std::string first = classes          ? str("Target ", a, " is out of bounds. ")
                                : rows           ? "index out of range in self. "
                                : name == "take" ? str("out of range: tried to access index ", a, " on a tensor of ", b, " elements. ")
                                                 : "";
      return str(first, '[', op, "] index ", a, " is out of bounds for a dimension with size ", b, b > 0 ? str(": give 0 to ", b - 1) : "");
    }
    case Trouble::DivisionByZero: return str('[', op, "] ZeroDivisionError: integer division by zero: a divisor is 0");
    case Trouble::Unsupported:
      if (a < 0) return str('[', op, "] this device has no kernel for it yet: compute it on the CPU with .cpu()");
      return str('[', op, "] has no kernel for ", a >= 0 && a < kDTypes ? name(static_cast<DType>(a)) : "this dtype",
                 " on this device: convert it with .to(dtype) first");
    case Trouble::Library:
      if (b == 2) return str('[', op, "] ", reinterpret_cast<const char*>(a));
      if (a == -1) return str('[', op, "] a library it needs is missing or failed");
      if (b == 0) return str('[', op, "] a library it uses failed with code ", a);
      return str('[', op, "] CUDA did not start its kernel: error ", a);
    case Trouble::Singular:
      return str(
          '[', op, "] ", batch_element(a), "The diagonal element ", b,
          " is zero, it could not be completed because the input matrix is singular: linalg.lstsq and linalg.pinv take such matrices.");
    case Trouble::NotPositive:
      return str('[', op, "] ", batch_element(a),
                 "The factorization could not be completed because the input is not positive-definite (the leading minor of order ", b,
                 " is not positive-definite): give a symmetric matrix with positive eigenvalues, or add a small multiple of eye().");
    case Trouble::NoConvergence:
      return str('[', op, "] ", batch_element(a),
                 "The algorithm failed to converge because the input matrix is ill-conditioned or has values that are not finite.");
    case Trouble::NotProbability:
      if (b == 0) return str('[', op, "] expects probabilities between 0 and 1, but got ", std::bit_cast<double>(a));
      return str('[', op, "] all elements of ", b == 1 ? "input" : "target", " should be between 0 and 1, but one is ",
                 std::bit_cast<double>(a),
                 b == 1 ? "; use binary_cross_entropy_with_logits for others" : ": give 0, 1 or what lies between");
    default: return str('[', op, "] no trouble");
  }
}

void copy_bytes(void* to, Device to_device, bool to_pinned, const void* from, Device from_device, bool from_pinned, size_t bytes,
                bool non_blocking, const char* op, Site site, CopyReason reason) {
  if (bytes == 0) return;
  refuse_trace(op);
  site = tandem::detail::site_of_work(site);
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  Driver& driver = require_driver();
  const auto fact = [&](const StreamRecord& stream, bool waits) {
    return facts::Copy{.op = op,
                       .site = site,
                       .to = to,
                       .from = from,
                       .to_device = to_device,
                       .from_device = from_device,
                       .to_pinned = to_pinned,
                       .from_pinned = from_pinned,
                       .bytes = bytes,
                       .non_blocking = non_blocking,
                       .waits = waits,
                       .reason = reason,
                       .stream = &stream};
  };
  if (to_device.is_cuda() && from_device.is_cuda()) {
    const StreamRecord& source = *current_stream(from_device.index());
    const StreamRecord& target = *current_stream(to_device.index());
    const Telling told([&] { return fact(source, false); });
    // The destination may still be in use by what is queued for its GPU.
    order_streams(target, source);
    driver.copy(to, to_device.index(), from, from_device.index(), bytes, source.handle, op, site);
    order_streams(source, target);
    return;
  }
  const bool to_gpu = to_device.is_cuda();
  const StreamRecord& stream = *current_stream((to_gpu ? to_device : from_device).index());
  const bool waits = !non_blocking || !(to_gpu ? from_pinned : to_pinned);
  if (waits) refuse_capture(stream, op);
  const Telling told([&] { return fact(stream, waits); });
  // The wait of a real GPU cannot be ended, so that a second one would only cost time.
  if (waits && tandem::detail::wait_hook.load(std::memory_order_relaxed) && driver.properties(stream.device).is_virtual) {
    const tandem::detail::MayEndWaits before_it_is_queued;
    driver.synchronize_stream(stream.handle, site);
  }
  if (waits && !to_gpu) return driver.copy_to_host(to, from, from_device.index(), bytes, stream.handle, op, site);
  driver.copy(to, to_device.index(), from, from_device.index(), bytes, stream.handle, op, site);
  if (waits) driver.synchronize_stream(stream.handle, site);
}

}  // namespace tandem::runtime
