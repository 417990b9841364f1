// The report's page as text; tests/cli/report.sh opens one in a browser.
#include "train/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "io/html.h"
#include "support/on_device.h"
#include "tandem.h"
#include "train/svg_chart.h"

namespace td = tandem;
namespace train = td::train;
using train::Report;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The elements in the order in which they end; an error where they do not nest.
void check_nesting(const std::string& page) {
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at)) {
    // What stands between these is no HTML.
    for (const char* raw : {"style", "script"})
      if (!open.empty() && open.back() == raw) at = page.find(td::str("</", raw), at);
    size_t end = at + 1;
    for (bool quoted = false; page.at(end) != '>' || quoted; ++end) quoted = quoted != (page[end] == '"');
    const std::string tag = page.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find(' '));
    at = end;
    if (name[0] == '!' || tag.back() == '/' || name == "meta" || name == "link" || name == "img") continue;
    if (name[0] != '/') {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << tag;
    ASSERT_EQ("/" + open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

Report full() {
  Report report;
  report.title = "A <run> & \"more\"";
  report.subtitle = "of two epochs";
  report.highlights = {{"accuracy", "97%"}};
  report.configuration = {{"lr", "0.1 < 1"}};
  report.devices = {{"cuda:0", "a GPU"}};
  report.curves = {{"train_loss", {{0.25, 4}, {0.75, 2}, {1.25, 1}, {1.75, 0.5}}},
                   {"val_loss", {{1, 2.5}, {2, 1.5}}},
                   {"val_acc", {{1, 0.5}, {2, 0.75}}}};
  report.memory_devices = {td::gpu(0)};
  report.memory = {{0.5, {{1 << 20, 3 << 20, 8 << 20}}}, {1, {{2 << 20, 4 << 20, 8 << 20}}}};
  report.confusion = train::ReportConfusion{td::tensor({{3, 1}, {0, 4}}), {"cat", "d&g"}, {{td::rand({1, 8, 8}), 0, 1, 0.816}}};
  return report;
}

}  // namespace

TEST(Report, ShowsAllThatItIsGiven) {
  const std::string page = train::report_html(full());
  check_nesting(page);
  EXPECT_NE(page.find("<h1>A &lt;run&gt; &amp; &quot;more&quot;</h1>"), std::string::npos);
  for (const char* title : {"Curves", "Confusion matrix", "Memory", "Epochs", "Configuration", "Devices"})
    EXPECT_EQ(count(page, td::str("<h2>", title, "</h2>")), 1U) << title;
  // A chart for the loss, with both parts of the data, one for the accuracy, one for the GPU.
  EXPECT_EQ(count(page, "<svg "), 3U);
  EXPECT_LT(page.find("<figcaption>loss</figcaption>"), page.find("<figcaption>acc</figcaption>"));
  EXPECT_NE(page.find("<figcaption>Memory of cuda:0, MiB</figcaption>"), std::string::npos);
  // Each epoch's figures: means within it, values at its end; the best stand out.
  EXPECT_NE(page.find("<th>epoch</th><th>train_loss</th><th>val_acc</th><th>val_loss</th>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>1</td><td>3.0000</td><td>0.5000</td><td>2.5000</td></tr>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>2</td><td>0.7500</td><td class=\"best\">0.7500</td><td class=\"best\">1.5000</td></tr>"), std::string::npos);
  // The matrix, with what part of a row and of a column is right.
  EXPECT_NE(page.find("title=\"1 of 4 that are cat: d&amp;g\""), std::string::npos);
  EXPECT_NE(page.find("<tr><th>precision</th><th>100%</th><th>80%</th>"), std::string::npos);
  EXPECT_NE(page.find("<th>75%</th></tr>"), std::string::npos);
  EXPECT_NE(page.find("<p class=\"note\">1 mistake: what"), std::string::npos);
  EXPECT_NE(page.find("src=\"data:image/png;base64,iVBORw0KGgo"), std::string::npos);
  EXPECT_NE(page.find("cat → <b>d&amp;g</b> <span>82%</span>"), std::string::npos);
  EXPECT_NE(page.find("<th>lr</th><td>0.1 &lt; 1</td>"), std::string::npos);
}

TEST(Report, DrawsOnlyWhatChanges) {
  Report report;
  report.curves = {{"lr", {{1, 0.1}, {2, 0.1}, {3, 0.1}}}, {"val_loss", {{1, 2}}}};  // a constant, and one point
  std::string page = train::report_html(report);
  EXPECT_EQ(count(page, "<svg "), 0U);
  EXPECT_EQ(count(page, "<h2>Curves</h2>"), 0U);
  EXPECT_NE(page.find("<th>epoch</th><th>lr</th><th>val_loss</th>"), std::string::npos);  // they are figures of the epochs
  report.curves["train_loss"] = {{0.5, 3}, {1.5, 2}};
  page = train::report_html(report);
  check_nesting(page);
  EXPECT_EQ(count(page, "<svg "), 1U);
  // Beside a chart that would stand alone, what the run ended with.
  EXPECT_NE(page.find("<th>at the end</th>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>lr</td><td>0.1000</td></tr>"), std::string::npos);
  report.memory_devices = {td::gpu(0), td::gpu(1)};
  report.memory = {{0.5, {{1 << 20, 1 << 20, 4 << 20}, {1 << 20, 2 << 20, 8 << 20}}},
                   {1, {{1 << 20, 1 << 20, 4 << 20}, {2 << 20, 2 << 20, 8 << 20}}}};
  page = train::report_html(report);
  check_nesting(page);
  EXPECT_EQ(count(page, "<figcaption>Memory of cuda:0"), 0U);  // it held the same all the time: its figures stand in the table
  EXPECT_EQ(count(page, "<figcaption>Memory of cuda:1"), 1U);
  EXPECT_NE(page.find("<tr><td>cuda:0</td><td>1</td><td>1</td><td>4</td></tr>"), std::string::npos);
}

TEST(Report, HasNoNumbersBelowZeroWhereThereAreNone) {
  Report report;
  report.curves = {{"val_acc", {{1, 0}, {2, 1}}}, {"val_gain", {{1, -0.0}, {2, -0.5}}}};
  report.figures = {{"val_gain", {{1, -0.0}, {2, -0.5}}}};
  const std::string page = train::report_html(report);
  const size_t acc = page.find("<figcaption>acc</figcaption>"), gain = page.find("<figcaption>gain</figcaption>");
  ASSERT_TRUE(acc < gain && gain != std::string::npos);
  EXPECT_EQ(page.substr(acc, gain - acc).find(">-"), std::string::npos);
  EXPECT_NE(page.substr(gain).find(">-0.4</text>"), std::string::npos);
  EXPECT_EQ(page.find("-0.0000"), std::string::npos);
  EXPECT_NE(page.find("<td>0.0000</td>"), std::string::npos);
}

TEST(Report, TellsWhatWasGivenFromWhatWasNot) {
  Report report;
  report.configuration = {{"lr", "0.1"}};
  report.defaults = {{"batch", "64"}};
  const std::string page = train::report_html(report);
  check_nesting(page);
  const size_t given = page.find("<th>lr</th>"), part = page.find("left at its default"), left = page.find("<th>batch</th>");
  EXPECT_TRUE(given < part && part < left && left != std::string::npos);
  report.defaults.clear();
  EXPECT_EQ(count(train::report_html(report), "left at its default"), 0U);
}

// For tests/train/report_page.sh, which opens them in a browser.
TEST(Report, OfOneThreeAndTwelveCurves) {
  const std::vector<std::string> names = {"train_loss", "val_loss",  "val_acc",   "lr",
                                          "val_top5",   "val_f1",    "val_auroc", "val_precision_of_the_rarest_class",
                                          "val_recall", "grad_norm", "train_acc", "val_mse"};
  for (const int curves : {1, 3, 12}) {
    Report report = full();
    report.highlights = {
        {"accuracy", "97.2%"}, {"samples right", "350 of 360"}, {"epochs", "20"}, {"time", "12.3 s"}, {"parameters", "62,006"}};
    report.configuration = {{"epochs", "20"}, {"lr", "0.003"}};
    report.defaults = {{"batch", "64"}, {"optimizer", "adam"}, {"schedule", "one-cycle"}};
    report.confusion = train::ReportConfusion{td::eye(10, {}, {.dtype = td::kInt64}) * 35 + 1, {}, {}};
    report.memory_devices.assign(static_cast<size_t>(curves == 12 ? 3 : 1), td::gpu(0));
    for (auto& sample : report.memory) sample.devices.resize(report.memory_devices.size(), sample.devices[0]);
    report.curves.clear();
    for (int i = 0; i < curves; ++i) {
      auto& points = report.curves[names[static_cast<size_t>(i)]];
      for (int epoch = 1; epoch <= 20; ++epoch)
        points.push_back({double(epoch), i < 2 ? 2.3 * std::exp(-epoch / (5.0 + i)) : 1 - std::exp(-epoch / (3.0 + i))});
    }
    const std::string page = train::report_html(report);
    check_nesting(page);
    train::write_report(td::str("report", curves, ".html"), report);
  }
}

TEST(Report, NeedsNothingFromElsewhere) {
  const std::string page = train::report_html(full());
  EXPECT_EQ(count(page, "http"), 1U);  // the name of SVG's namespace, which is no address to load from
  EXPECT_EQ(count(page, "http://www.w3.org/2000/svg"), 1U);
  EXPECT_EQ(count(page, "url("), 0U);
  EXPECT_EQ(count(page, "@import"), 0U);
}

TEST(Report, LeavesOutWhatIsEmpty) {
  const std::string page = train::report_html({});
  check_nesting(page);
  EXPECT_EQ(count(page, "<h2>"), 0U);
  EXPECT_EQ(count(page, "<svg "), 0U);
  EXPECT_EQ(count(page, "<table"), 0U);
}

TEST(Report, RefusesAMatrixThatIsNone) {
  const auto text = [](train::ReportConfusion confusion) {
    Report report;
    report.confusion = std::move(confusion);
    return error_of([&] { (void)train::report_html(report); });
  };
  EXPECT_EQ(text({td::zeros({2, 3}, td::kInt64), {}, {}}),
            "[write_report] the confusion matrix must be a square of integers, but is int64[2, 3]");
  EXPECT_EQ(text({td::zeros({2, 2}), {}, {}}), "[write_report] the confusion matrix must be a square of integers, but is float32[2, 2]");
  EXPECT_EQ(text({}), "[write_report] the confusion matrix must be a square of integers");
  EXPECT_EQ(text({td::zeros({2, 2}, td::kInt64), {"a"}, {}}),
            "[write_report] the confusion matrix has 2 classes, but there are names for 1");
  EXPECT_EQ(text({td::zeros({2, 2}, td::kInt64), {}, {{td::zeros({2, 2}), 0, 2, 1}}}),
            "[write_report] a sample is of class 2, but the confusion matrix has 2 classes");
}

TEST(Report, IsMadeByATrainer) {
  struct Net : train::Classifier {
    td::nn::Linear fc{4, 2};
    void fields(td::nn::Fields& f) override { f("fc", fc); }
    td::Tensor forward(const td::Tensor& x) override { return fc(x); }
    std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters()); }
  };
  const td::data::TensorDataset points({td::randn({20, 4}), td::randint(0, 2, {20})});
  Net model;
  train::Trainer trainer({.max_epochs = 3, .num_gpus = 2, .quiet = true, .seed = 5});
  trainer.fit(model, train::DataModule(points, points, {.batch_size = 5}));
  const Report report = train::make_report(trainer);
  EXPECT_EQ(report.curves, trainer.board().series());
  ASSERT_EQ(report.devices.size(), 2U);
  EXPECT_EQ(report.devices[1].first, "cuda:1");
  EXPECT_EQ(report.memory.size(), 12U);  // batches
  EXPECT_EQ(report.memory_devices, trainer.devices());
  EXPECT_GT(report.memory[0].devices[0].allocated, 0U);
  EXPECT_DOUBLE_EQ(report.memory.back().x, 3);
  std::filesystem::remove("report.html");
  train::write_report("report.html", report);
  std::ifstream in("report.html");
  std::ostringstream page;
  page << in.rdbuf();
  EXPECT_EQ(page.str(), train::report_html(report));
  check_nesting(page.str());
  EXPECT_NE(page.str().find("<th>seed</th><td>5</td>"), std::string::npos);
  EXPECT_NE(error_of([&] { train::write_report("report.html/not a folder", report); }).find("[write_report] report.html/not a folder: "),
            std::string::npos);
}

TEST(SvgChart, BreaksLinesWhereThereIsNoNumber) {
  const std::string svg = train::detail::svg({"loss", "epoch", {{"a<b", {{0, 1}, {1, 2}, {2, NAN}, {3, 2}, {4, 1}}, 2}}});
  EXPECT_NE(svg.find("<path d=\"M46.0 "), std::string::npos);
  const std::string path = svg.substr(svg.find(" d=\"") + 4, svg.find("\"/>", svg.find(" d=\"")) - svg.find(" d=\"") - 4);
  EXPECT_EQ(count(path, "M"), 2U);
  EXPECT_EQ(count(path, "L"), 2U);
  EXPECT_EQ(count(svg, "<title>a&lt;b 2 at epoch 3</title>"), 1U);
  EXPECT_EQ(count(svg, "class=\"dot\""), 4U);
  EXPECT_EQ(count(svg, "nan"), 0U);
}

TEST(SvgChart, HasNoAccuracyAboveOne) {
  const auto highest = [](double value) {  // the height of the curve's last point above the axis' upper end
    const std::string svg = train::detail::svg({"accuracy", "epoch", {{"val_acc", {{1, 0.5}, {2, value}}, 0}}});
    const size_t last = svg.rfind('L');
    return std::stod(svg.substr(svg.find(' ', last) + 1));
  };
  EXPECT_LT(highest(1.0), highest(0.9));          // the axis ends at 1, and the point lies on it
  EXPECT_EQ(highest(0.6), highest(0.7));          // with room above
  EXPECT_NEAR(highest(20.0), highest(0.7), 0.2);  // also of what is no share
}

TEST(SvgChart, NamesWholeEpochsAlone) {
  train::detail::Chart chart{"loss", "epoch", {{"train", {{0.25, 1}, {1.5, 2}, {2.75, 3}}}}};
  const std::string epochs = train::detail::svg(chart);
  for (const char* tick : {"1", "2"}) EXPECT_EQ(count(epochs, td::str("text-anchor=\"middle\">", tick, "<")), 1U) << tick;
  EXPECT_EQ(count(epochs, "text-anchor=\"middle\">"), 2U) << epochs;
  chart.x_name = "seconds";
  EXPECT_GE(count(train::detail::svg(chart), "text-anchor=\"middle\">"), 3U);
  chart.x_name = "epoch";
  chart.lines[0].points = {{0.25, 1}, {0.75, 2}};  // none within
  EXPECT_GE(count(train::detail::svg(chart), "text-anchor=\"middle\">"), 2U);
}

TEST(SvgChart, KeepsNamesApart) {
  train::detail::Chart chart{"loss", "epoch", {}};
  for (int i = 0; i < 5; ++i) chart.lines.push_back({td::str("line", i), {{0, 0}, {1, 1 + i * 1e-3}}, i});
  const std::string svg = train::detail::svg(chart);
  std::vector<double> heights;
  for (size_t at = svg.find("class=\"name"); at != std::string::npos; at = svg.find("class=\"name", at + 1))
    heights.push_back(std::stod(svg.substr(svg.find(" y=\"", at) + 4)));
  ASSERT_EQ(heights.size(), 5U);
  for (size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 14.9);
  // A long name is cut, never within a character; a line may have a label of its own.
  chart.lines = {{"a_name_of_twenty_one", {{0, 0}, {1, 1}}, 0},
                 {"äääääääääääää", {{0, 0}, {1, 2}}, 1},
                 {"val_loss", {{0, 0}, {1, 3}}, 2, false, "val"}};
  const std::string cut = train::detail::svg(chart);
  EXPECT_NE(cut.find(">a_name_of_tw…</text>"), std::string::npos);
  EXPECT_NE(cut.find(">ääääää…</text>"), std::string::npos);
  EXPECT_NE(cut.find(">val</text>"), std::string::npos);
  // Also where there is hardly anything to draw.
  check_nesting(train::detail::svg({"empty", "epoch", {{"nothing", {}, 0}}}));
  check_nesting(train::detail::svg({"one", "epoch", {{"point", {{3, 7}}, 0}}}));
}

TEST(Html, EncodesBytes) {
  // RFC 4648, section 10.
  EXPECT_EQ(td::io::base64(""), "");
  EXPECT_EQ(td::io::base64("f"), "Zg==");
  EXPECT_EQ(td::io::base64("fo"), "Zm8=");
  EXPECT_EQ(td::io::base64("foo"), "Zm9v");
  EXPECT_EQ(td::io::base64("foob"), "Zm9vYg==");
  EXPECT_EQ(td::io::base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(td::io::base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(td::io::base64("\xff\xfe\xfd"), "//79");
}

TEST(MemoryRecorder, NotesWhatTheGpusHold) {
  train::MemoryRecorder recorder({td::cpu(), td::gpu(0)});
  ASSERT_EQ(recorder.devices(), std::vector<td::Device>{td::gpu(0)});
  recorder.record(0);
  {
    const auto held = td::zeros({1 << 20}, td::gpu(0));
    recorder.record(1);
  }
  recorder.record(2);
  const auto& samples = recorder.samples();
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_GE(samples[1].devices[0].allocated, samples[0].devices[0].allocated + (4 << 20));
  EXPECT_GE(samples[1].devices[0].reserved, samples[1].devices[0].allocated);
  EXPECT_EQ(samples[2].devices[0].allocated, samples[0].devices[0].allocated);
  EXPECT_GE(samples[2].devices[0].peak, samples[1].devices[0].allocated);
  train::MemoryRecorder none({td::cpu()});
  none.record(0);
  EXPECT_TRUE(none.samples().empty());
}

TEST(MemoryRecorder, ThinsOutLongRuns) {
  train::MemoryRecorder recorder({td::gpu(0)}, 8);
  for (int i = 0; i < 1000; ++i) recorder.record(i);
  const auto& samples = recorder.samples();
  EXPECT_LE(samples.size(), 8U);
  EXPECT_GE(samples.size(), 4U);
  for (size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(samples[i].x, static_cast<double>(i) * samples[1].x);
  EXPECT_GE(samples.back().x, 1000 - 2 * samples[1].x);
}
