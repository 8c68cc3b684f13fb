import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { addInstalledParts, toolchainFiles } from "./bazel-toolchains.ts";

/** A workspace that builds without a network, with one rule of each kind whose actions differ in the protocol. */
export const sampleSources: Readonly<Record<string, string>> = {
  ".bazelrc": `build --nosandbox_debug
build --incompatible_strict_action_env
build --javabase=@local_jdk//:jdk --host_javabase=@local_jdk//:jdk
build --java_toolchain=//tools/java:toolchain --host_java_toolchain=//tools/java:toolchain
build --nojava_header_compilation
build --spawn_strategy=sandboxed --strategy=Javac=sandboxed
build:farm --spawn_strategy=remote --strategy=Javac=remote --strategy=TestRunner=remote
build:farm --strategy=Genrule=remote --strategy=CppCompile=remote --jobs=8
build --flaky_test_attempts=default
build --curses=no --color=no --show_progress_rate_limit=5
`,
  "gen/BUILD": `package(default_visibility = ["//visibility:public"])
genrule(name = "hello", outs = ["hello.txt"], cmd = "echo hello > $@")
genrule(
    name = "upper",
    srcs = [":hello", "words.txt"],
    outs = ["upper.txt", "count.txt"],
    cmd = "cat $(SRCS) | tr a-z A-Z > $(location upper.txt); wc -c < $(location upper.txt) > $(location count.txt)",
)
genrule(
    name = "noisy",
    outs = ["noisy.txt"],
    cmd = "echo this is told on stderr >&2; touch $@",
)
genrule(name = "tool", outs = ["tool.sh"], executable = True, cmd = "printf '#!/bin/sh\\necho made by a made tool\\n' > $@")
genrule(name = "by_tool", outs = ["by_tool.txt"], tools = [":tool"], cmd = "$(location :tool) > $@")
`,
  "gen/words.txt": "a few words\n",
  "trees/BUILD": `load(":tree.bzl", "file_tree", "tree_listing")
file_tree(name = "tree", files = ["a.txt", "deep/er/b.txt", "empty.txt"])
tree_listing(name = "listing", tree = ":tree")
`,
  "trees/tree.bzl": `def _file_tree_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    command = ["set -e"]
    for path in ctx.attr.files:
        command.append("mkdir -p $(dirname $1/%s)" % path)
        command.append("echo %s > $1/%s" % (path, path))
    command.append(": > $1/empty.txt; chmod +x $1/a.txt; mkdir $1/hollow")
    ctx.actions.run_shell(
        outputs = [out], command = "\\n".join(command), arguments = [out.path], mnemonic = "FileTree",
    )
    return [DefaultInfo(files = depset([out]))]

file_tree = rule(implementation = _file_tree_impl, attrs = {"files": attr.string_list()})

def _tree_listing_impl(ctx):
    tree = ctx.files.tree[0]
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.run_shell(
        inputs = [tree], outputs = [out], mnemonic = "TreeListing", arguments = [tree.path, out.path],
        command = "cd $1 && find -L . -type f | sort | xargs wc -c > $OLDPWD/$2",
    )
    return [DefaultInfo(files = depset([out]))]

tree_listing = rule(implementation = _tree_listing_impl, attrs = {"tree": attr.label()})
`,
  "cc/BUILD": `cc_library(name = "greeting", srcs = ["greeting.cc"], hdrs = ["greeting.h"])
cc_library(name = "counting", srcs = ["counting.cc"], hdrs = ["counting.h"], copts = ["-O2"])
cc_binary(name = "greet", srcs = ["greet.cc"], deps = [":greeting", ":counting"])
cc_test(name = "greeting_test", size = "small", srcs = ["greeting_test.cc"], deps = [":greeting", ":counting"])
genrule(name = "greeted", outs = ["greeted.txt"], tools = [":greet"], cmd = "$(location :greet) farm > $@")
`,
  "cc/greeting.h": "#include <string>\nstd::string greeting(const std::string& whom);\n",
  "cc/greeting.cc":
    '#include "cc/greeting.h"\nstd::string greeting(const std::string& whom) { return "Hello, " + whom; }\n',
  "cc/counting.h": "int letters(const char* text);\n",
  "cc/counting.cc": `#include "cc/counting.h"
#include <cctype>
int letters(const char* text) {
  int count = 0;
  for (; *text; ++text) if (std::isalpha(*text)) ++count;
  return count;
}
`,
  "cc/greet.cc": `#include <iostream>
#include "cc/counting.h"
#include "cc/greeting.h"
int main(int argc, char** argv) {
  const std::string text = greeting(argc > 1 ? argv[1] : "world");
  std::cout << text << " " << letters(text.c_str()) << std::endl;
}
`,
  "cc/greeting_test.cc": `#include "cc/counting.h"
#include "cc/greeting.h"
int main() { return greeting("you") == "Hello, you" && letters("a b") == 2 ? 0 : 1; }
`,
  "shell/BUILD": `sh_test(name = "plain_test", size = "small", srcs = ["plain_test.sh"], data = ["//gen:upper"])
sh_test(name = "sharded_test", size = "small", srcs = ["sharded_test.sh"], shard_count = 3)
sh_test(name = "flaky_test", size = "small", srcs = ["flaky_test.sh"], data = ["fails-until.txt"], flaky = True)
`,
  "shell/plain_test.sh":
    '#!/bin/sh\nset -e\ngrep -q "A FEW WORDS" gen/upper.txt\necho kept > "$TEST_UNDECLARED_OUTPUTS_DIR/kept.txt"\n',
  "shell/sharded_test.sh":
    '#!/bin/sh\nset -e\ntouch "$TEST_SHARD_STATUS_FILE"\ntest "$TEST_TOTAL_SHARDS" = 3\necho shard "$TEST_SHARD_INDEX"\n',
  // A run that starts before the time in the file fails; later runs pass.
  "shell/flaky_test.sh": `#!/bin/sh
until=$(cat shell/fails-until.txt)
[ "$(date +%s)" -lt "$until" ] || exit 0
while [ "$(date +%s)" -lt "$until" ]; do sleep 0.2; done
echo too early
exit 1
`,
  "shell/fails-until.txt": "0\n",
  "java/BUILD": `java_library(name = "words", srcs = ["Words.java"])
java_binary(name = "speak", srcs = ["Speak.java"], main_class = "sample.Speak", deps = [":words"])
`,
  "java/Words.java":
    'package sample;\n\npublic class Words {\n  public static String of(int n) { return n + (n == 1 ? " word" : " words"); }\n}\n',
  "java/Speak.java":
    "package sample;\n\npublic class Speak {\n  public static void main(String[] args) { System.out.println(Words.of(args.length)); }\n}\n",
};

export interface BazelWorkspace {
  readonly path: string;
  write(path: string, content: string): Promise<void>;
  remove(): Promise<void>;
}

/** Writes the sample to a new directory, with additional files if any. */
export async function bazelWorkspace(
  more: Readonly<Record<string, string>> = {},
): Promise<BazelWorkspace> {
  const path = await mkdtemp(join(tmpdir(), "grange-bazel-workspace-"));
  const write = async (name: string, content: string) => {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
    if (name.endsWith(".sh")) await chmod(join(path, name), 0o755);
  };
  for (const [name, content] of Object.entries({ ...toolchainFiles, ...sampleSources, ...more })) {
    await write(name, content);
  }
  await addInstalledParts(path);
  return { path, write, remove: () => rm(path, { recursive: true, force: true }) };
}
