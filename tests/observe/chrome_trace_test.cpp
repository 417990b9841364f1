// The trace as a file: JSON whatever the names are, whole or not at all, and the same events when it is read.
#include "observe/profiler/chrome_trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "observe/profiler/flame_graph.h"
#include "observe/profiler/profiler.h"
#include "observe/profiler/stacks.h"
#include "observe/profiler/trace_environment.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace profiler = td::profiler;
using nlohmann::json;
using profiler::Profile;
using profiler::RecordFunction;

namespace {

void work() {
  const auto x = td::ones({8}, {.device = td::gpu(0), .requires_grad = true});
  const RecordFunction hostile("a \"name\"\n\\ \x01 \xff\xfe </script> ä");
  const auto y = (x * x).softmax(0).sum();
  y.backward();
  (void)y.detach().cpu();
}

TEST(ChromeTrace, IsJsonWithRowsArrowsAndCounters) {
  Profile profile({.record_shapes = true, .profile_memory = true});
  work();
  profile.stop();
  profile.export_chrome_trace("trace.json");
  const json trace = json::parse(read_file("trace.json"));
  std::map<std::string, int> phases;
  std::map<std::pair<std::string, int64_t>, std::vector<json>> arrows;
  std::set<std::string> rows;
  std::map<std::pair<int64_t, int64_t>, std::vector<double>> open;  // ends of slices around, a row
  for (const json& entry : trace.at("traceEvents")) {
    const std::string phase = entry.at("ph");
    ++phases[phase];
    if (phase == "M") rows.insert(entry.at("args").at("name"));
    if (phase == "s" || phase == "f") arrows[{entry.at("cat"), entry.at("id")}].push_back(entry);
    if (phase != "X") continue;
    const double begin = entry.at("ts"), end = begin + entry.at("dur").get<double>();
    auto& ends = open[{entry.at("pid"), entry.at("tid")}];
    while (!ends.empty() && ends.back() <= begin) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back() + 1e-6) << "slices of a row nest: " << entry;
    ends.push_back(end);
  }
  EXPECT_TRUE(rows.contains("host") && rows.contains("cuda:0") && rows.contains("stream 0"));
  EXPECT_GT(phases["C"], 0);
  std::set<std::string> kinds;
  for (const auto& [key, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2U);
    kinds.insert(key.first);
    EXPECT_EQ(ends[0].at("ph"), "s");
    EXPECT_LE(ends[0].at("ts").get<double>(), ends[1].at("ts").get<double>());
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"launch", "backward"}));
}

TEST(ChromeTrace, IsReadAsItWasWritten) {
  Profile profile({.record_shapes = true, .with_flops = true});
  work();
  profile.stop();
  profile.export_chrome_trace("read.json");
  const auto& written = profile.events();
  const auto read = profiler::read_chrome_trace("read.json");
  ASSERT_EQ(read.size(), written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    const auto &a = written[i], &b = read[i];
    EXPECT_TRUE(a.name == b.name || a.category == "range") << "only what is not UTF-8 is replaced";
    EXPECT_TRUE(a.category == b.category && a.device == b.device && a.stream == b.stream && a.thread == b.thread && a.start == b.start &&
                a.duration == b.duration && a.file == b.file && a.line == b.line && a.id == b.id && a.parent == b.parent &&
                a.launch == b.launch && a.forward_id == b.forward_id && a.shapes == b.shapes && a.bytes == b.bytes && a.flops == b.flops)
        << a.name;
  }
  for (const char* const wrong : {"", "[]", "{}", "{\"traceEvents\":[{}]}", "{\"traceEvents\":[{\"ph\":\"X\"}]}"}) {
    write_file("wrong.json", wrong);
    EXPECT_NE(error_of([] { (void)profiler::read_chrome_trace("wrong.json"); }).find("wrong.json: this is no trace"), std::string::npos);
  }
}

TEST(ChromeTrace, IsWrittenWholeOrNotAtAll) {
  Profile profile;
  work();
  profile.stop();
  write_file("kept.json", "old");
  EXPECT_NE(error_of([&] { profile.export_chrome_trace("kept.json/trace.json"); }).find("[export_chrome_trace] kept.json/"),
            std::string::npos);
  profile.export_chrome_trace("runs/a/trace.json");  // its folder is made
  EXPECT_NE(read_file("runs/a/trace.json").find("traceEvents"), std::string::npos);
  profile.export_stacks("runs/b/stacks.txt");
  EXPECT_FALSE(read_file("runs/b/stacks.txt").empty());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 512;  // as a disk that is full
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of([&] { profile.export_chrome_trace("kept.json"); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(error.find("kept.json: cannot write the file"), std::string::npos) << error;
  EXPECT_EQ(read_file("kept.json"), "old");
}

TEST(Stacks, AddUpToTheTimeOfTheirRanges) {
  Profile profile;
  work();
  profile.stop();
  for (const char* const metric : {"self_cpu_time_total", "self_device_time_total"}) {
    profile.export_stacks("stacks.txt", metric);
    const std::string text = read_file("stacks.txt");
    EXPECT_NE(text.find("MulBackward0 ("), std::string::npos);
    EXPECT_NE(text.find(";"), std::string::npos);
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      EXPECT_EQ(line.find_first_not_of("0123456789", line.rfind(' ') + 1), std::string::npos) << line;
    }
  }
  EXPECT_NE(error_of([&] { profile.export_stacks("stacks.txt", "colour"); }).find("'colour'"), std::string::npos);
}

TEST(FlameGraphs, AreAsWideAsTheirTime) {
  Profile profile;
  {
    const profiler::RecordFunction range("<b>&\"outer\"");
    work();
  }
  profile.stop();
  profile.export_flame_graph("flames.html");
  const std::string page = read_file("flames.html");
  EXPECT_EQ(page.find("<b>"), std::string::npos) << "a name is text";
  EXPECT_NE(page.find("&lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("<h2>cuda:0</h2>"), std::string::npos);
  // Of each graph the frames of the first row come to the whole, and none is wider.
  const std::regex frame(R"re(style="top:(\d+)px;left:[0-9.]+%;width:([0-9.]+)%")re");
  const std::string host = page.substr(page.find("<h2>Host</h2>"), page.find("<h2>Host, by line</h2>") - page.find("<h2>Host</h2>"));
  std::map<int, double> rows;
  for (std::sregex_iterator at(host.begin(), host.end(), frame), end; at != end; ++at) rows[std::stoi((*at)[1])] += std::stod((*at)[2]);
  ASSERT_GE(rows.size(), 2U);
  EXPECT_NEAR(rows.begin()->second, 100, 1);
  for (const auto& [top, width] : rows) EXPECT_LE(width, 100.01) << top;
  profile.export_flame_graph("runs/flames/page.html");  // its folder is made
  EXPECT_EQ(read_file("runs/flames/page.html"), read_file("flames.html"));
  EXPECT_NE(error_of([&] { profile.export_flame_graph("flames.html/page.html"); }).find("[export_flame_graph] flames.html/"),
            std::string::npos);
}

TEST(FlameGraphs, HaveAGraphAThreadAndTheFilesNameFirst) {
  std::vector<profiler::Event> events(3);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].name = "add";
    events[i].category = "operation";
    events[i].id = static_cast<int64_t>(i);
    events[i].thread = i == 0 ? 7 : 9;  // one event of the first, two of the second
    events[i].duration = profiler::nanoseconds(3'000'000);
    events[i].file = "/a/folder/of/someone/train.cpp";
    events[i].line = static_cast<int>(10 + i);
  }
  const std::string page = profiler::flame_graph_page(events);
  const size_t busy = page.find("<h2>Host, thread 9</h2>"), other = page.find("<h2>Host, thread 7</h2>"), lines = page.find("by line");
  ASSERT_NE(lines, std::string::npos);
  EXPECT_LT(busy, other) << "the one with most time first";
  const std::string first = page.substr(busy, other - busy), second = page.substr(other, lines - other);
  EXPECT_NE(first.find(">train.cpp:11 add</button>"), std::string::npos);
  EXPECT_NE(first.find(">train.cpp:12 add</button>"), std::string::npos);
  EXPECT_NE(first.find("title=\"add (/a/folder/of/someone/train.cpp:11): 3.00 ms, 50 %\""), std::string::npos);
  EXPECT_EQ(first.find("train.cpp:10"), std::string::npos);
  EXPECT_NE(second.find("width:100.000%"), std::string::npos);
  EXPECT_NE(page.find("<td>3.00 ms</td><td>33 %</td><td title=\"add (/a/folder/of/someone/train.cpp:10)\">train.cpp:10 add</td>"),
            std::string::npos);
}

TEST(FlameGraphs, OfRangesThatAreDeepInEachOtherAreDrawn) {
  constexpr int64_t kDeep = 20000;  // copies of all that an event stands in would take gigabytes
  std::vector<profiler::Event> events(kDeep);
  for (int64_t i = 0; i < kDeep; ++i) {
    profiler::Event& event = events[static_cast<size_t>(i)];
    event.name = "range";
    event.category = "range";
    event.id = i;
    event.parent = i - 1;
    event.start = profiler::nanoseconds(i);
    event.duration = profiler::nanoseconds(2 * (kDeep - i));
  }
  const auto nodes = profiler::stacks_of(events, false);
  ASSERT_EQ(nodes.size(), kDeep + 1);
  EXPECT_EQ(nodes[0].total.count(), 2 * kDeep);
  EXPECT_EQ(nodes[kDeep].self.count(), 2);
  EXPECT_NE(profiler::flame_graph_page(events).find("no more than 200 rows are drawn"), std::string::npos);
}

TEST(TraceFile, HasTheRankInItsName) {
  EXPECT_EQ(profiler::trace_file_of_this_process("a.b/trace"), "a.b/trace");
  ASSERT_EQ(setenv("RANK", "3", 1), 0);
  EXPECT_EQ(profiler::trace_file_of_this_process("a.b/trace.json"), "a.b/trace.rank3.json");
  EXPECT_EQ(profiler::trace_file_of_this_process("a.b/trace"), "a.b/trace.rank3");
  EXPECT_EQ(profiler::trace_file_of_this_process("a/.trace"), "a/.trace.rank3");
  ASSERT_EQ(unsetenv("RANK"), 0);
}

}  // namespace
