#include "base/error_place.h"

#include <cstring>

#include "base/work_site.h"

namespace tandem {
namespace detail {

thread_local constinit StatementLine statement_line = {"", 0};

void ErrorPlace::set_line_of_message(Error& error, Site site) {
  error.message_has_line_ = true;
  error.where_ = site;
  write_text(error);
}

void ErrorPlace::set_layer(Error& error, std::string description, const void* module) {
  error.layer_ = std::move(description);
  error.module_ = module;
  write_text(error);
}

void ErrorPlace::add_path(Error& error, std::string_view path, const void* module) {
  error.layer_ = str(path, error.layer_has_path_ ? "." : ": ", error.layer_);
  error.layer_has_path_ = true;
  error.module_ = module;
  write_text(error);
}

void ErrorPlace::prepend(Error& error, std::string_view before) {
  error.text_.insert(0, before);
  error.message_size_ += before.size();
}

void ErrorPlace::write_text(Error& error) {
  const bool says_line = error.where_.line && !error.message_has_line_;
  std::string text = error.message();
  if (!error.layer_.empty()) text += str(" (in ", error.layer_, says_line ? ", " : ")");
  if (says_line) text += str(error.layer_.empty() ? " (at " : "at ", error.where_.file, ':', error.where_.line, ')');
  error.text_ = std::move(text);
}

}  // namespace detail

namespace {
Site statement_site() {
  // std::make_unique and its like call a constructor from a line of their own, which says nothing to a user.
  if (std::strstr(detail::statement_line.file, "/include/c++/")) return Site::none();
  return {detail::statement_line.file, detail::statement_line.line};
}
}  // namespace

Error::Error(std::string message, Hint hint) : Error(message + hint.text) {
  hint_size_ = hint.text.size();
  python_hint_ = std::move(hint.python);
}

std::string Error::message(Language language) const {
  if (language == Language::Cpp) return text_.substr(0, message_size_);
  return text_.substr(0, message_size_ - hint_size_) + python_hint_;
}

std::string Error::hint(Language language) const {
  return language == Language::Cpp ? text_.substr(message_size_ - hint_size_, hint_size_) : python_hint_;
}

Error::Error(std::string message)
    : message_size_(message.size()),
      text_(std::move(message)),
      where_(detail::work_site && detail::work_site->line ? *detail::work_site : statement_site()) {
  if (where_.line) detail::ErrorPlace::write_text(*this);
}

}  // namespace tandem
