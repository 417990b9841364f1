// ONNX files that are not what they say.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnx/builder.h"
#include "onnx/model.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using onnx_test::GraphBuilder;
using onnx_test::Message;

namespace {

std::string error_for(const std::string& bytes) {
  write_file("bad.onnx", bytes);
  return error_of([] { (void)td::onnx::load("bad.onnx"); });
}

std::string error_for_tensor(const Message& tensor) { return error_for(GraphBuilder().initializer(tensor).file()); }

Message floats(std::initializer_list<int64_t> sizes) {
  Message tensor;
  for (const int64_t size : sizes) tensor.integer(1, size);
  return tensor.integer(2, 1).bytes(8, "w");
}

Message external(const std::string& location, int64_t count) {
  Message tensor = floats({count});
  return tensor.integer(14, 1).message(13, Message().bytes(1, "location").bytes(2, location));
}

}  // namespace

TEST(HostileOnnx, TensorsHaveTheBytesThatTheirSizesTake) {
  EXPECT_EQ(error_for_tensor(floats({2}).bytes(9, "abcd")),
            "[onnx::load] bad.onnx: initializer 'w': it takes 8 bytes by its sizes [2], but has 4");
  EXPECT_EQ(error_for_tensor(floats({1000000, 1000000, 1000})),
            "[onnx::load] bad.onnx: initializer 'w': it has the sizes [1000000, 1000000, 1000], which no tensor can have");
  EXPECT_EQ(error_for_tensor(floats({-1})), "[onnx::load] bad.onnx: initializer 'w': it has the sizes [-1], which no tensor can have");
  EXPECT_EQ(error_for_tensor(floats({1 << 30})),
            "[onnx::load] bad.onnx: initializer 'w': it has 1073741824 elements by its sizes [1073741824], but 0 values");
  EXPECT_NE(error_for_tensor(floats({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})).find("it has 13 dimensions"), std::string::npos);
  EXPECT_NE(error_for_tensor(Message().integer(2, 8).bytes(8, "s")).find("it has the type string, which no tensor has"), std::string::npos);
  EXPECT_NE(error_for_tensor(Message().integer(2, 99).bytes(8, "s")).find("it has the type type 99"), std::string::npos);
}

TEST(HostileOnnx, OtherFilesLieInTheFolder) {
  std::filesystem::create_directories("in/deep");
  write_file("outside.bin", std::string(8, '\0'));
  write_file("in/deep/inside.bin", std::string(8, '\0'));
  const auto error = [](const Message& tensor) {
    write_file("in/model.onnx", GraphBuilder().initializer(tensor).file());
    return error_of([] { (void)td::onnx::load("in/model.onnx"); });
  };
  EXPECT_EQ(error(external("deep/inside.bin", 2)), "no error");
  EXPECT_NE(error(external("../outside.bin", 2)).find("which is not in the model's folder"), std::string::npos);
  EXPECT_NE(error(external("deep/../../outside.bin", 2)).find("which is not in the model's folder"), std::string::npos);
  EXPECT_NE(error(external(std::filesystem::absolute("outside.bin").string(), 2)).find("which is not in the model's folder"),
            std::string::npos);
  std::filesystem::remove("in/link.bin");
  std::filesystem::create_symlink("../outside.bin", "in/link.bin");
  EXPECT_NE(error(external("link.bin", 2)).find("which is not in the model's folder"), std::string::npos);
  EXPECT_NE(error(external("deep/inside.bin", 1 << 28)).find("on, which has only 8"), std::string::npos);
  EXPECT_NE(error(external("none.bin", 2)).find("which cannot be opened"), std::string::npos);
}

TEST(HostileOnnx, GraphsMakeSense) {
  EXPECT_EQ(error_for(GraphBuilder().node("Relu", {"x"}, {"y"}).file()),
            "[onnx::load] bad.onnx: node 'make_y' (Relu): its inputs want 'x', which nothing before them gives");
  EXPECT_EQ(error_for(GraphBuilder().input("x").node("Relu", {"x"}, {"x"}).file()),
            "[onnx::load] bad.onnx: node 'make_x' (Relu): the name 'x' is given to two values");
  EXPECT_EQ(error_for(GraphBuilder().input("x").output("z").file()),
            "[onnx::load] bad.onnx: the model's outputs want 'z', which nothing before them gives");
  EXPECT_EQ(
      error_for(GraphBuilder().input("x").node("Foo", {"x"}, {"a"}).node("Bar", {"a"}, {"b"}, {}, "my").node("Foo", {"b"}, {"c"}).file()),
      "[onnx::load] bad.onnx: tandem does not have the operators 'Foo (version 17)', 'my.Bar'");
}

TEST(HostileOnnx, GraphsAreNotNestedForever) {
  Message graph = GraphBuilder().message();
  for (int i = 0; i < 3000; ++i) graph = GraphBuilder().node("If", {}, {"y"}, {{"then_branch", graph}}).message();
  write_file("deep.onnx", Message().message(7, graph).str());
  EXPECT_NE(error_of([] { (void)td::onnx::load("deep.onnx"); }).find("it is nested more than 24 deep"), std::string::npos);
}

TEST(HostileOnnx, FunctionsAreNotNestedForever) {
  const auto call = [](const char* name) { return Message().bytes(1, "a").bytes(2, "b").bytes(4, name).bytes(7, "f"); };
  const auto function = Message().bytes(1, "F").bytes(10, "f").bytes(4, "a").bytes(5, "b").message(7, call("F"));
  const auto graph = GraphBuilder().input("a").node("F", {"a"}, {"b"}, {}, "f").message();
  write_file("endless.onnx", Message().message(7, graph).message(25, function).str());
  EXPECT_NE(error_of([] { (void)td::onnx::load("endless.onnx"); }).find("its functions are nested more than 24 deep"), std::string::npos);
}

TEST(HostileOnnx, CallsOfAFunctionCountWithItsInputs) {
  // 400 calls of a function that calls another one 400 times; that one has no nodes, but 100 inputs.
  const auto call = [](const std::string& name) { return Message().bytes(4, name).bytes(7, "f"); };
  Message graph, many, empty;
  many.bytes(1, "Many").bytes(10, "f");
  empty.bytes(1, "Empty").bytes(10, "f");
  for (int i = 0; i < 400; ++i) {
    graph.message(1, call("Many"));
    many.message(7, call("Empty"));
  }
  for (int i = 0; i < 100; ++i) empty.bytes(4, "i" + std::to_string(i));
  write_file("calls.onnx", Message().message(7, graph).message(25, many).message(25, empty).str());
  EXPECT_NE(error_of([] { (void)td::onnx::load("calls.onnx"); }).find("its nodes have more than 1000000 inputs, outputs and attributes"),
            std::string::npos);
}

TEST(HostileOnnx, ResultsAreNotLargerThanTheMachine) {
  const auto error = [](const GraphBuilder& graph, const td::Tensor& x) {
    write_file("large.onnx", graph.file());
    auto model = td::onnx::load("large.onnx");
    return error_of([&] { (void)model.run_in_order({x}); });
  };
  const td::Tensor sizes = td::tensor({1 << 20, 1 << 20, 1 << 7}), times = td::tensor({int64_t{1} << 40});
  for (const char* op : {"Expand", "Tile"}) {
    GraphBuilder g;
    g.input("x").initializer("n", std::string(op) == "Tile" ? times : sizes).node(op, {"x", "n"}, {"y"}).output("y");
    EXPECT_NE(error(g, td::ones({1})).find("more than the machine's memory"), std::string::npos) << op << error(g, td::ones({1}));
  }
  EXPECT_NE(error(GraphBuilder().input("n", td::kInt64).node("ConstantOfShape", {"n"}, {"y"}).output("y"), sizes)
                .find("more than the machine's memory"),
            std::string::npos);
  GraphBuilder range;
  range.input("n", td::kInt64).initializer("zero", td::tensor(0)).initializer("one", td::tensor(1));
  range.node("Range", {"zero", "n", "one"}, {"y"}).output("y", td::kInt64);
  EXPECT_NE(error(range, td::tensor(int64_t{1} << 45)).find("more than the machine's memory"), std::string::npos);
  EXPECT_NE(error(range, td::tensor(int64_t{1} << 60)).find("elements"), std::string::npos);
}

TEST(HostileOnnx, OtherFilesAreCalledByTheirName) {
  EXPECT_NE(error_for("{\"a\": 1}").find("bad.onnx: not an ONNX model"), std::string::npos);
  EXPECT_NE(error_for("").find("bad.onnx: "), std::string::npos) << error_for("");
  const std::string whole = GraphBuilder().input("x").node("Relu", {"x"}, {"y"}).output("y").file();
  for (size_t length = 0; length < whole.size(); ++length) (void)error_for(whole.substr(0, length));
}
