// How files take their place: through links, with the mode of the one they replace, beside what killed writers left; and what is no file.
#include "io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "io/event_file.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace io = td::io;
namespace fs = std::filesystem;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

/// An empty folder.
std::string folder(const std::string& name) {
  fs::remove_all(name);
  fs::create_directories(name);
  return name + "/";
}

int files_in(const std::string& folder) { return static_cast<int>(std::distance(fs::directory_iterator(folder), {})); }

}  // namespace

TEST(AtomicFile, IsNotHinderedByAWriterWithItsProcessNumber) {
  // As the first process of a container finds them, where the last run was killed: it had the number that this one has.
  const std::string in = folder("container");
  for (int count = 0; count < 200; ++count) write_file(td::str(in, "x.npy.", getpid(), "-", count, ".tmp"), "half");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(error_of([&] { io::save_npy(in + "x.npy", td::ones({2})); }), "no error");
}

TEST(AtomicFile, RemovesWhatDeadWritersLeft) {
  const std::string in = folder("leftovers");
  const std::string dead = in + "x.npy.tandem-0123456789abcdef.tmp", living = in + "y.npy.tandem-fedcba9876543210.tmp";
  const std::string others[] = {in + "x.npy.tmp", in + "x.npy.tandem-0123.tmp", in + ".tandem-0123456789abcdef.tmp",
                                in + "x.npy.tandem-0123456789abcdeg.tmp"};
  write_file(dead, "half");
  write_file(living, "half");
  for (const std::string& other : others) write_file(other, "somebody's");
  const int descriptor = open(living.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(descriptor, LOCK_EX | LOCK_NB), 0);
  io::save_npy(in + "z.npy", td::ones({2}));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(living));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
  close(descriptor);
}

TEST(AtomicFile, IsLockedWhileItIsWritten) {
  const std::string in = folder("locked");
  io::AtomicFile file("test", in + "x");
  std::string temporary;
  for (const auto& entry : fs::directory_iterator(in)) temporary = entry.path().string();
  EXPECT_EQ(temporary.rfind(in + "x.tandem-", 0), 0U) << temporary;
  const int descriptor = open(temporary.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  EXPECT_NE(flock(descriptor, LOCK_EX | LOCK_NB), 0);
  close(descriptor);
  file.write("x", 1);
  file.commit();
  EXPECT_EQ(files_in(in), 1);
}

TEST(AtomicFile, WritesThroughSymbolicLinks) {
  const std::string in = folder("links");
  fs::create_directories(in + "elsewhere");
  write_file(in + "elsewhere/target.npy", "old");
  fs::create_symlink("elsewhere/target.npy", in + "near.npy");
  fs::create_symlink("near.npy", in + "far.npy");
  fs::create_symlink(fs::absolute(in + "elsewhere/new.npy"), in + "dangling.npy");
  io::save_npy(in + "far.npy", td::ones({2}));
  io::save_npy(in + "dangling.npy", td::ones({3}));
  for (const char* link : {"near.npy", "far.npy", "dangling.npy"}) EXPECT_TRUE(fs::is_symlink(in + link)) << link;
  EXPECT_EQ(io::load_npy(in + "elsewhere/target.npy").numel(), 2);
  EXPECT_EQ(io::load_npy(in + "elsewhere/new.npy").numel(), 3);
  EXPECT_EQ(files_in(in + "elsewhere"), 2);

  fs::create_symlink("round.npy", in + "and.npy");
  fs::create_symlink("and.npy", in + "round.npy");
  EXPECT_EQ(error_of([&] { io::save_npy(in + "round.npy", td::ones({2})); }),
            "[save_npy] links/round.npy: cannot create the file: Too many levels of symbolic links");
  fs::create_symlink("nowhere/x.npy", in + "lost.npy");
  EXPECT_EQ(error_of([&] { io::save_npy(in + "lost.npy", td::ones({2})); }),
            "[save_npy] links/lost.npy: cannot create the file: there is no folder links/nowhere: make it first");
}

TEST(AtomicFile, RefusesDataWhoseFolderIsMissing) {
  const std::string in = folder("missing");
  const auto x = td::ones({2});
  const auto text = [](const char* op, const std::string& path, const std::string& folder) {
    return std::string("[") + op + "] " + path + ": cannot create the file: there is no folder " + folder + ": make it first";
  };
  EXPECT_EQ(error_of([&] { io::save_npy(in + "a/b/x.npy", x); }), text("save_npy", in + "a/b/x.npy", in + "a/b"));
  EXPECT_EQ(error_of([&] { io::save_npz(in + "a/x.npz", {{"x", x}}); }), text("save_npz", in + "a/x.npz", in + "a"));
  EXPECT_EQ(error_of([&] { io::save_safetensors(in + "a/x", {{"x", x}}); }), text("save_safetensors", in + "a/x", in + "a"));
  EXPECT_EQ(error_of([&] {
              td::data::write_png(td::zeros({3, 4, 4}, td::kUInt8), in + "a/x.png");
            }),
            text("write_png", in + "a/x.png", in + "a"));
  EXPECT_EQ(files_in(in), 0);
}

TEST(AtomicFile, MakesTheFoldersOfReports) {
  const std::string in = folder("made");
  io::write_file("test", in + "a/b/c.txt", "here", io::MissingFolder::IsMade);
  EXPECT_EQ(files_in(in + "a/b"), 1);
  // Where a folder cannot be made, the text says which, and nothing is left.
  EXPECT_EQ(error_of([&] { io::write_file("test", in + "a/b/c.txt/d/e.txt", "there", io::MissingFolder::IsMade); }),
            "[test] made/a/b/c.txt/d/e.txt: cannot make its folder made/a/b/c.txt/d: Not a directory");
}

TEST(AtomicFile, HandsOnModeAndOwner) {
  const std::string in = folder("modes");
  const mode_t mask = umask(022);
  io::save_npy(in + "x.npy", td::ones({2}));
  EXPECT_EQ(mode_of(in + "x.npy"), 0644U);
  for (const unsigned mode : {0600U, 0640U, 0664U, 0755U, 0444U}) {
    ASSERT_EQ(chmod((in + "x.npy").c_str(), mode), 0);
    io::save_npy(in + "x.npy", td::ones({3}));
    EXPECT_EQ(mode_of(in + "x.npy"), mode);
  }
  if (getuid() == 0) {
    ASSERT_EQ(chown((in + "x.npy").c_str(), 1234, 5678), 0);
    io::save_npy(in + "x.npy", td::ones({3}));
    struct stat status = {};
    ASSERT_EQ(stat((in + "x.npy").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 1234U);
    EXPECT_EQ(status.st_gid, 5678U);
    EXPECT_EQ(status.st_mode & 07777U, 0444U);
  }
  // At no moment may others read what only the owner may.
  write_file(in + "secret", "old");
  ASSERT_EQ(chmod((in + "secret").c_str(), 0600), 0);
  {
    const io::AtomicFile file("test", in + "secret");
    for (const auto& entry : fs::directory_iterator(in)) {
      const bool temporary = entry.path().extension() == ".tmp";
      EXPECT_EQ(temporary ? mode_of(entry.path().string()) : 0600U, 0600U);
    }
  }
  umask(mask);
}

TEST(SpecialFiles, AreRefusedByReadersAndWriters) {
  const std::string in = folder("special");
  ASSERT_EQ(mkfifo((in + "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", in + "link");
  fs::create_directory(in + "folder");
  td::nn::Linear net(2, 2);
  const std::vector<std::function<void(const std::string&)>> readers = {
      [](const std::string& path) { (void)io::load_safetensors(path); },
      [](const std::string& path) { (void)io::load_npy(path); },
      [](const std::string& path) { (void)io::load_npz(path); },
      [](const std::string& path) { (void)td::data::read_idx(path); },
      [](const std::string& path) { (void)td::data::read_csv(path); },
      [](const std::string& path) { (void)td::data::read_image(path); },
      [&](const std::string& path) { td::load(path, net); },
  };
  const std::vector<std::function<void(const std::string&)>> writers = {
      [](const std::string& path) {
        io::save_safetensors(path, {{"x", td::ones({2})}});
      },
      [](const std::string& path) { io::save_npy(path, td::ones({2})); },
      [](const std::string& path) {
        td::data::write_png(td::ones({1, 2, 2}, td::kUInt8), path);
      },
      [&](const std::string& path) { td::save(path, net); },
  };
  for (const std::string& path : {in + "pipe", in + "link", in + "folder", std::string("/dev/zero"), std::string("/dev/tty")}) {
    for (const auto& reader : readers) {
      const std::string error = error_of([&] { reader(path); });
      // A folder may be a model in shards.
      EXPECT_TRUE(error.find(path + ": cannot ") != std::string::npos ||
                  error.find(path + ": the folder has no file ") != std::string::npos)
          << error;
    }
    for (const auto& writer : writers) {
      const std::string error = error_of([&] { writer(path); });
      EXPECT_NE(error.find(path + ": cannot write the file: this is a"), std::string::npos) << error;
    }
  }
  EXPECT_EQ(files_in(in), 3);
}

TEST(EventFile, NeedsNoClockThatGoesOn) {
  // The names that this process would give in the next seconds are taken, as where the clock was set back.
  const std::string in = folder("clock");
  const std::string name = fs::path(io::EventFile("test", in).path()).filename().string();
  const std::string head = "events.out.tfevents.", middle = name.substr(head.size() + 10, name.rfind('.') - head.size() - 10);
  const int64_t second = std::stoll(name.substr(head.size(), 10));
  const int count = std::stoi(name.substr(name.rfind('.') + 1));
  for (int64_t later = 0; later < 10; ++later) write_file(td::str(in, head, second + later, middle, ".", count + 1), "another run's");
  std::string path;
  EXPECT_EQ(error_of([&] { path = io::EventFile("test", in).path(); }), "no error");
  EXPECT_EQ(read_file(path), "");
}
