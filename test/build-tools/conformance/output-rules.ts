import { describe, expect, test } from "vitest";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import type { ActionSpec } from "./build-tool.ts";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Returns the paths of a result, by the field that contains them. */
function pathsIn(result: ActionResult) {
  const paths = (some: readonly { readonly path: string }[]) => some.map(({ path }) => path).sort();
  return {
    files: paths(result.outputFiles),
    directories: paths(result.outputDirectories),
    symlinks: paths(result.outputSymlinks),
  };
}

export function outputRules(farm: () => SharedFarm): void {
  const resultOf = async (spec: ActionSpec) => (await farm().tool().run(spec)).result;
  const makes = "echo f > f; mkdir -p d; echo x > d/x";

  describe("Declared outputs", () => {
    test("output_paths are whatever they turn out to be (Buck2, Pants, recc)", async () => {
      const result = await resultOf({ script: makes, command: { outputPaths: ["f", "d"] } });

      expect(pathsIn(result)).toEqual({ files: ["f"], directories: ["d"], symlinks: [] });
    });

    test("output_files and output_directories alone are honoured (Bazel up to 6.2)", async () => {
      const result = await resultOf({
        script: makes,
        command: { outputFiles: ["f"], outputDirectories: ["d"] },
      });

      expect(pathsIn(result)).toEqual({ files: ["f"], directories: ["d"], symlinks: [] });
    });

    test("with all three lists, each output is told once (Bazel 7 crashes at two)", async () => {
      const result = await resultOf({
        script: makes,
        command: { outputPaths: ["f", "d"], outputFiles: ["f"], outputDirectories: ["d"] },
      });

      expect(pathsIn(result)).toEqual({ files: ["f"], directories: ["d"], symlinks: [] });
    });

    test("where output_paths are set, the other lists say nothing (the API)", async () => {
      const result = await resultOf({
        script: makes,
        command: { outputPaths: ["f"], outputDirectories: ["d"] },
      });

      expect(pathsIn(result)).toEqual({ files: ["f"], directories: [], symlinks: [] });
    });

    test.each([
      { made: "a file", script: "echo f > o", expected: { files: ["o"], directories: [] } },
      { made: "a directory", script: "mkdir o", expected: { files: [], directories: ["o"] } },
    ])("one path in both older lists may be $made (Buck2's compatibility mode)", async (rule) => {
      const result = await resultOf({
        script: rule.script,
        command: { outputFiles: ["o"], outputDirectories: ["o"] },
      });

      expect(pathsIn(result)).toEqual({ ...rule.expected, symlinks: [] });
    });

    test("a path that is declared twice is told once (Buck2)", async () => {
      const result = await resultOf({ script: makes, command: { outputPaths: ["f", "f"] } });

      expect(pathsIn(result).files).toEqual(["f"]);
    });

    test("missing ones are left out, and nothing fails (Bazel's tests declare nine and make two)", async () => {
      const { response, result } = await farm()
        .tool()
        .run({
          script: "echo f > f",
          command: { outputFiles: ["f", "g"], outputDirectories: [] },
        });

      expect(response.status?.code ?? 0).toBe(Code.OK);
      expect(pathsIn(result).files).toEqual(["f"]);
      const none = await resultOf({ script: "true", command: { outputPaths: ["a", "b/c"] } });
      expect(pathsIn(none)).toEqual({ files: [], directories: [], symlinks: [] });
    });

    test("the directories that outputs lie in are there (all clients)", async () => {
      const result = await resultOf({
        script: "echo 1 > a/b/c; echo 2 > d/e",
        command: { outputPaths: ["a/b/c", "d/e"] },
      });

      expect(pathsIn(result).files).toEqual(["a/b/c", "d/e"]);
    });

    test("output_directories are there themselves (Bazel's rules count on it)", async () => {
      const result = await resultOf({
        script: "echo 1 > tree/artifact/x",
        command: { outputDirectories: ["tree/artifact"] },
      });

      expect(pathsIn(result).directories).toEqual(["tree/artifact"]);
    });

    test("an output_path is not made: a command may ask whether it is there (the API)", async () => {
      const result = await resultOf({
        script: "[ -e a/b ] || echo absent",
        command: { outputPaths: ["a/b"] },
      });

      expect(textOf(result.stdoutRaw)).toBe("absent\n");
    });

    test("paths count from the working directory, and come back as they were written (Buck2, recc)", async () => {
      const result = await resultOf({
        script: "echo o > out/o; mkdir e; echo up > ../outside",
        inputs: { pkg: { src: "" } },
        command: { workingDirectory: "pkg", outputPaths: ["out/o", "e/"] },
      });

      expect(pathsIn(result)).toEqual({ files: ["out/o"], directories: ["e/"], symlinks: [] });
    });

    test("the empty path is the whole working directory (the API; BuildStream)", async () => {
      const tool = farm().tool();
      const { result } = await tool.run({
        script: "echo made > made",
        inputs: { pkg: { given: "given" }, other: "not in it" },
        command: { workingDirectory: "pkg", outputPaths: [""] },
      });

      expect(pathsIn(result).directories).toEqual([""]);
      const tree = textOf(await tool.read(result.outputDirectories[0]?.treeDigest));
      expect(tree).toContain("made");
      expect(tree).toContain("given");
      expect(tree).not.toContain("other");
    });

    test("an input that is declared an output comes back, changed or not (Pants' formatters)", async () => {
      const tool = farm().tool();
      const { result } = await tool.run({
        script: "echo changed > a",
        inputs: { a: "a", b: "b" },
        command: { outputPaths: ["a", "b"] },
      });

      const texts = result.outputFiles.map(async ({ digest }) => textOf(await tool.read(digest)));
      expect(await Promise.all(texts)).toEqual(["changed\n", "b"]);
    });

    test("what is executable is told, and nothing else is (Bazel, Buck2)", async () => {
      const { outputFiles } = await resultOf({
        script: "echo > run; chmod 755 run; echo > plain; chmod 644 plain",
        command: { outputPaths: ["plain", "run"] },
      });

      expect(outputFiles.map(({ path, isExecutable }) => ({ path, isExecutable }))).toEqual([
        { path: "plain", isExecutable: false },
        { path: "run", isExecutable: true },
      ]);
    });

    test("node properties come when they are asked for, and only then (moon, BuildBox)", async () => {
      const script = "echo > o; chmod 640 o; touch -d @1600000000 o";
      const [asked, unasked] = await Promise.all([
        resultOf({
          script,
          command: { outputPaths: ["o"], outputNodeProperties: ["mtime", "unix_mode"] },
        }),
        resultOf({ script, command: { outputPaths: ["o"] } }),
      ]);

      expect(asked.outputFiles[0]?.nodeProperties).toMatchObject({
        mtime: { seconds: 1_600_000_000n },
        unixMode: 0o640,
      });
      expect(unasked.outputFiles[0]?.nodeProperties).toBeUndefined();
    });

    test.each([
      { made: "a directory", declared: "a file", command: { outputFiles: ["good", "bad"] } },
      {
        made: "a file",
        declared: "a directory",
        command: { outputFiles: ["good"], outputDirectories: ["bad"] },
      },
    ])(
      "$made that was declared as $declared is FAILED_PRECONDITION in the response (the API)",
      async (rule) => {
        const make = rule.made === "a file" ? "rmdir bad; echo > bad" : "mkdir bad";
        const { response, result } = await farm()
          .tool()
          .run({ script: `echo > good; ${make}`, command: rule.command });

        expect(response.status?.code).toBe(Code.FAILED_PRECONDITION);
        expect(response.status?.message).toContain("bad");
        expect(pathsIn(result).files).toEqual(["good"]);
      },
    );
  });
}
