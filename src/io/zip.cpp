// The layout is that of PKWARE's APPNOTE.TXT: local header and bytes of each entry, then the directory, then its end record.
#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "io/named.h"

namespace tandem::io {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50, kDirectorySignature = 0x02014b50, kEndSignature = 0x06054b50;
constexpr size_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kLongestComment = 0xffff;
// Zip64: where a number does not fit, it is all ones, and stands in a wider field elsewhere.
constexpr uint32_t kLocatorSignature = 0x07064b50, kEnd64Signature = 0x06064b50, kElsewhere = 0xffffffff;
constexpr size_t kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr uint16_t kWideNumbers = 1;  // the kind of extra field that has them
constexpr uint16_t kVersion = 20, kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8Names = 1 << 11;
constexpr uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980: the same content gives the same bytes
constexpr uint16_t kWideVersion = 45;
constexpr uint64_t kMostEntries = 0xfffe;  // in the narrow end record
constexpr size_t kPieceBytes = 64 << 10;

template <class T>
void put(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class T>
T get(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// What local header and directory entry have in common, from the version that is needed on.
void put_common(std::string& out, uint32_t crc, uint64_t bytes, bool wide, size_t name_bytes, size_t extra_bytes) {
  const uint32_t size = wide ? kElsewhere : static_cast<uint32_t>(bytes);
  put<uint16_t>(out, extra_bytes ? kWideVersion : kVersion);
  put<uint16_t>(out, kUtf8Names);
  put<uint16_t>(out, kStored);
  put<uint16_t>(out, 0);  // time
  put<uint16_t>(out, kFirstDay);
  put<uint32_t>(out, crc);
  put<uint32_t>(out, size);
  put<uint32_t>(out, size);
  put<uint16_t>(out, static_cast<uint16_t>(name_bytes));
  put<uint16_t>(out, static_cast<uint16_t>(extra_bytes));
}

/// The extra field with the numbers that did not fit; empty where all did.
std::string wide_field(std::initializer_list<uint64_t> numbers) {
  if (numbers.size() == 0) return {};
  std::string field;
  put<uint16_t>(field, kWideNumbers);
  put<uint16_t>(field, static_cast<uint16_t>(numbers.size() * sizeof(uint64_t)));
  for (const uint64_t number : numbers) put(field, number);
  return field;
}

uint32_t checksum(uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib takes a null address for the wish to start anew
  return static_cast<uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Finds where each entry's bytes begin; error where they reach into the next entry's or, at the end, into the directory.
void place(const InputFile& file, std::vector<ZipEntry>& entries, uint64_t directory_begin) {
  std::sort(entries.begin(), entries.end(), [](const ZipEntry& a, const ZipEntry& b) { return a.header < b.header; });
  for (size_t i = 0; i < entries.size(); ++i) {
    ZipEntry& entry = entries[i];
    const uint64_t end = i + 1 < entries.size() ? entries[i + 1].header : directory_begin;
    if (entry.header > directory_begin || directory_begin - entry.header < kLocalBytes)
      file.bad("the entry ", shown(entry.name), " lies outside the archive");
    const std::string header = file.read(kLocalBytes, entry.header);
    if (get<uint32_t>(header, 0) != kLocalSignature) file.bad("the entry ", shown(entry.name), " does not begin where the directory says");
    entry.begin = entry.header + kLocalBytes + get<uint16_t>(header, 26) + get<uint16_t>(header, 28);
    if (entry.begin > end || entry.compressed > end - entry.begin)
      file.bad("the entry ", shown(entry.name), " overlaps what comes after it at byte ", end);
  }
}

/// Where the directory is, and how many entries it has.
struct Directory {
  uint64_t entries = 0, bytes = 0, begin = 0;
};

/// By the end record, which begins at `at` of the file's last bytes; by the wider one where the archive has it.
Directory directory_of(const InputFile& file, const std::string& tail, size_t at) {
  Directory found = {get<uint16_t>(tail, at + 10), get<uint32_t>(tail, at + 12), get<uint32_t>(tail, at + 16)};
  uint64_t end = file.size() - tail.size() + at;
  std::string locator;
  if (end >= kLocatorBytes) locator = file.read(kLocatorBytes, end - kLocatorBytes);
  if (!locator.empty() && get<uint32_t>(locator, 0) == kLocatorSignature) {
    end -= kLocatorBytes;
    const auto wide = get<uint64_t>(locator, 8);
    if (end < kEnd64Bytes || wide > end - kEnd64Bytes) file.bad("the archive's wide end record lies outside the file");
    const std::string record = file.read(kEnd64Bytes, wide);
    if (get<uint32_t>(record, 0) != kEnd64Signature) file.bad("the archive's wide end record is not where it should be");
    found = {get<uint64_t>(record, 32), get<uint64_t>(record, 40), get<uint64_t>(record, 48)};
    end = wide;
  }
  if (found.begin > end || found.bytes > end - found.begin) file.bad("the archive's directory lies outside the file");
  return found;
}

/// Takes those of an entry's numbers from its extra fields that did not fit into the directory.
void widen(const InputFile& file, std::string_view extra, ZipEntry& entry) {
  std::vector<uint64_t*> elsewhere;
  for (uint64_t* number : {&entry.size, &entry.compressed, &entry.header})
    if (*number == kElsewhere) elsewhere.push_back(number);
  constexpr size_t kFieldHead = 4;
  while (!elsewhere.empty() && extra.size() >= kFieldHead) {
    const auto kind = get<uint16_t>(extra, 0), bytes = get<uint16_t>(extra, 2);
    extra.remove_prefix(kFieldHead);
    if (bytes > extra.size()) break;
    if (kind == kWideNumbers) {
      if (bytes < elsewhere.size() * sizeof(uint64_t)) break;
      for (size_t i = 0; i < elsewhere.size(); ++i) *elsewhere[i] = get<uint64_t>(extra, i * sizeof(uint64_t));
      return;
    }
    extra.remove_prefix(bytes);
  }
  if (!elsewhere.empty()) file.bad("the entry ", shown(entry.name), " lacks its sizes");
}

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view head, std::string_view data) {
  if (name.size() > 0xffff) fail("[", op_, "] ", path_, ": a name has ", name.size(), " bytes, more than an archive takes");
  const uint64_t bytes = head.size() + data.size();
  const bool wide = bytes >= wide_from_, far = offset_ >= wide_from_;
  const uint32_t crc = checksum(checksum(0, head), data);
  const std::string sizes = wide ? wide_field({bytes, bytes}) : "";
  std::string header;
  put<uint32_t>(header, kLocalSignature);
  put_common(header, crc, bytes, wide, name.size(), sizes.size());
  header += name + sizes;

  const std::string numbers = wide && far ? wide_field({bytes, bytes, offset_}) : wide ? sizes : far ? wide_field({offset_}) : "";
  put<uint32_t>(directory_, kDirectorySignature);
  put<uint16_t>(directory_, numbers.empty() ? kVersion : kWideVersion);
  put_common(directory_, crc, bytes, wide, name.size(), numbers.size());
  put<uint16_t>(directory_, 0);  // comment
  put<uint16_t>(directory_, 0);  // disk
  put<uint16_t>(directory_, 0);  // internal attributes
  put<uint32_t>(directory_, 0);  // external attributes
  put<uint32_t>(directory_, far ? kElsewhere : static_cast<uint32_t>(offset_));
  directory_ += name + numbers;
  ++entries_;

  file_.write(header.data(), header.size());
  file_.write(head.data(), head.size());
  file_.write(data.data(), data.size());
  offset_ += header.size() + bytes;
}

void ZipWriter::finish() {
  const uint64_t bytes = directory_.size(), end = offset_ + bytes;
  const bool wide = entries_ > kMostEntries || bytes >= wide_from_ || offset_ >= wide_from_;
  if (wide) {
    put<uint32_t>(directory_, kEnd64Signature);
    put<uint64_t>(directory_, kEnd64Bytes - 12);  // what follows this number
    put<uint16_t>(directory_, kWideVersion);
    put<uint16_t>(directory_, kWideVersion);
    put<uint32_t>(directory_, 0);  // this disk
    put<uint32_t>(directory_, 0);  // the directory's disk
    put<uint64_t>(directory_, entries_);
    put<uint64_t>(directory_, entries_);
    put<uint64_t>(directory_, bytes);
    put<uint64_t>(directory_, offset_);
    put<uint32_t>(directory_, kLocatorSignature);
    put<uint32_t>(directory_, 0);  // the disk of the wide end record
    put<uint64_t>(directory_, end);
    put<uint32_t>(directory_, 1);  // disks
  }
  const auto entries = wide ? uint16_t{0xffff} : static_cast<uint16_t>(entries_);
  put<uint32_t>(directory_, kEndSignature);
  put<uint16_t>(directory_, 0);  // this disk
  put<uint16_t>(directory_, 0);  // the directory's disk
  put<uint16_t>(directory_, entries);
  put<uint16_t>(directory_, entries);
  put<uint32_t>(directory_, wide ? kElsewhere : static_cast<uint32_t>(bytes));
  put<uint32_t>(directory_, wide ? kElsewhere : static_cast<uint32_t>(offset_));
  put<uint16_t>(directory_, 0);  // comment
  file_.write(directory_.data(), directory_.size());
}

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  // The end record is the last thing in the file, but for a comment of unknown length.
  const size_t tail_bytes = static_cast<size_t>(std::min<uint64_t>(file.size(), kEndBytes + kLongestComment));
  const std::string tail = file.read(tail_bytes, file.size() - tail_bytes);
  size_t at = std::string::npos;
  for (size_t i = tail_bytes < kEndBytes ? 0 : tail_bytes - kEndBytes + 1; i-- > 0;) {
    if (get<uint32_t>(tail, i) != kEndSignature || i + kEndBytes + get<uint16_t>(tail, i + 20) != tail_bytes) continue;
    at = i;
    break;
  }
  if (at == std::string::npos) file.bad("not a zip archive, or cut off: it has no end record");
  const Directory place_of = directory_of(file, tail, at);
  const std::string directory = file.read(place_of.bytes, place_of.begin);
  std::vector<ZipEntry> entries;
  size_t next = 0;
  for (uint64_t i = 0; i < place_of.entries; ++i) {
    if (directory.size() - next < kDirectoryBytes || get<uint32_t>(directory, next) != kDirectorySignature)
      file.bad("the archive's directory is damaged");
    const auto flags = get<uint16_t>(directory, next + 8), method = get<uint16_t>(directory, next + 10);
    const size_t name_bytes = get<uint16_t>(directory, next + 28), extra_bytes = get<uint16_t>(directory, next + 30);
    const size_t more = name_bytes + extra_bytes + get<uint16_t>(directory, next + 32);
    if (directory.size() - next - kDirectoryBytes < more) file.bad("the archive's directory is damaged");
    ZipEntry entry;
    entry.name = directory.substr(next + kDirectoryBytes, name_bytes);
    entry.deflated = method == kDeflated;
    entry.crc = get<uint32_t>(directory, next + 16);
    entry.compressed = get<uint32_t>(directory, next + 20);
    entry.size = get<uint32_t>(directory, next + 24);
    entry.header = get<uint32_t>(directory, next + 42);
    widen(file, std::string_view(directory).substr(next + kDirectoryBytes + name_bytes, extra_bytes), entry);
    if (flags & kEncrypted) file.bad("the entry ", shown(entry.name), " is encrypted");
    if (method != kStored && method != kDeflated)
      file.bad("the entry ", shown(entry.name), " is packed in a way (", method, ") that is not read");
    if (!entry.deflated && entry.compressed != entry.size) file.bad("the entry ", shown(entry.name), " has two sizes");
    if (entry.compressed > file.size()) file.bad("the entry ", shown(entry.name), " lies outside the archive");
    if (entry.deflated && entry.size > entry.compressed * kMostInflated)
      file.bad("the entry ", shown(entry.name), " cannot unpack to the size it says");
    entries.push_back(std::move(entry));
    next += kDirectoryBytes + more;
  }
  place(file, entries, place_of.begin);
  return entries;
}

ZipEntryReader::ZipEntryReader(const InputFile& file, const ZipEntry& entry) : file_(file), entry_(entry) {
  if (entry.deflated)
    inflater_.emplace(
        Inflater::Form::Deflate, [this] { return next_piece(); }, str(file.what(), "the entry ", shown(entry.name), ": "));
}

std::string_view ZipEntryReader::next_piece() {
  piece_ = file_.read(std::min<uint64_t>(entry_.compressed - offset_, kPieceBytes), entry_.begin + offset_);
  offset_ += piece_.size();
  return piece_;
}

void ZipEntryReader::bad_size() const {
  file_.bad("the entry ", shown(entry_.name), ": does not unpack to the ", entry_.size, " bytes that the archive says");
}

void ZipEntryReader::read(void* to, size_t bytes) {
  if (inflater_) {
    if (inflater_->read(to, bytes) != bytes) bad_size();
  } else {
    file_.read(to, bytes, entry_.begin + offset_);
    offset_ += bytes;
  }
  crc_ = checksum(crc_, {static_cast<const char*>(to), bytes});
  given_ += bytes;
}

void ZipEntryReader::skip() {
  std::string piece(std::min<uint64_t>(entry_.size - given_, kPieceBytes), '\0');
  while (given_ < entry_.size) read(piece.data(), std::min<uint64_t>(entry_.size - given_, piece.size()));
}

void ZipEntryReader::finish() {
  char more = 0;
  if (inflater_ && inflater_->read(&more, 1) != 0) bad_size();
  if (crc_ != entry_.crc) file_.bad("the entry ", shown(entry_.name), ": damaged: its checksum does not fit");
}

}  // namespace tandem::io
