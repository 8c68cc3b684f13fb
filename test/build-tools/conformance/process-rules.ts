import { describe, expect, test } from "vitest";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { file } from "./build-tool.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

export function processRules(farm: () => SharedFarm): void {
  describe("What runs", () => {
    test("short output is in the result and in the store, long output in the store only (Bazel, Pants)", async () => {
      const tool = farm().tool();
      const short = (await tool.run({ script: "echo out; echo err >&2" })).result;
      const long = (await tool.run({ script: "yes 0123456789 | head -c 300000" })).result;

      expect(textOf(short.stdoutRaw)).toBe("out\n");
      expect(textOf(await tool.read(short.stdoutDigest))).toBe("out\n");
      expect(textOf(await tool.read(short.stderrDigest))).toBe("err\n");
      expect(long.stdoutRaw).toHaveLength(0);
      expect((await tool.read(long.stdoutDigest))?.byteLength).toBe(300_000);
    });

    test("argv[0] without a slash is looked up on the Command's PATH (the API since 2.3; Pants)", async () => {
      const { result } = await farm()
        .tool()
        .run({
          inputs: { "a-tool": "" },
          command: {
            arguments: ["sh", "-c", "echo $0 $1", "found", "with arguments"],
            environmentVariables: [{ name: "PATH", value: "/nowhere:/bin:/usr/bin" }],
          },
        });

      expect(textOf(result.stdoutRaw)).toBe("found with arguments\n");
    });

    test("argv[0] with a slash is relative to the working directory (Bazel, Buck2)", async () => {
      const tool = farm().tool();
      const say = file({ text: "#!/bin/sh\necho $1\n", isExecutable: true });
      const { result } = await tool.run({
        inputs: { pkg: { say } },
        command: { arguments: ["./say", "hello"], workingDirectory: "pkg" },
      });

      expect(textOf(result.stdoutRaw)).toBe("hello\n");
    });

    test("a program that is not there is the action's failure, with a shell's exit code 127 (Buck2 shows it)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ command: { arguments: ["no-such-program"] } });

      const { status, result } = await tool.responseTo(action);

      expect(result?.exitCode).toBe(127);
      expect(status?.code ?? 0).toBe(Code.OK);
    });

    test("the working directory is where the command runs (Buck2, recc)", async () => {
      const { result } = await farm()
        .tool()
        .run({
          script: 'basename "$PWD"; cat src',
          inputs: { "a pkg": { src: "source" } },
          command: { workingDirectory: "a pkg" },
        });

      expect(textOf(result.stdoutRaw)).toBe("a pkg\nsource");
    });

    test("standard input is at its end, and no socket (bash takes a socket for rshd and reads ~/.bashrc)", async () => {
      const { result } = await farm()
        .tool()
        .run({ script: "cat; [ -S /dev/stdin ] && echo socket; echo over" });

      expect(textOf(result.stdoutRaw)).toBe("over\n");
    });

    test("the environment is the Command's, with PATH, HOME and TMPDIR where it sets none (hermetic builds)", async () => {
      const { result } = await farm()
        .tool()
        .run({
          command: {
            arguments: ["/usr/bin/env"],
            environmentVariables: [
              { name: "HOME", value: "/mine" },
              { name: "WITH_LINES", value: "a\tb c" },
            ],
          },
        });

      const lines = textOf(result.stdoutRaw).trim().split("\n").sort();
      expect(lines.map((line) => line.split("=")[0])).toEqual([
        "HOME",
        "PATH",
        "TMPDIR",
        "WITH_LINES",
      ]);
      expect(lines).toContain("HOME=/mine");
      expect(lines).toContain("WITH_LINES=a\tb c");
    });

    test("arguments and variables arrive as they are: empty, quoted, in lines, in any script (Bazel's genrules)", async () => {
      const odd = ["", "two\nlines", "'\"$HOME`id`\\", "ünï→", "-n", "a  b "];
      const { result } = await farm()
        .tool()
        .run({
          command: {
            arguments: ["/bin/sh", "-c", 'printf "%s|" "$@" "$ODD"', "sh", ...odd],
            environmentVariables: [{ name: "ODD", value: odd.join("") }],
          },
        });

      expect(textOf(result.stdoutRaw)).toBe([...odd, odd.join(""), ""].join("|"));
    });

    test("outputs may have any name that a tree may have, and come back under it (all)", async () => {
      const paths = ["-", "a b", "ünï→", "'\"$HOME`id`", "*.?"];
      const { result } = await farm()
        .tool()
        .run({
          command: {
            arguments: ["/bin/sh", "-c", 'for f; do echo "$f" > "./$f"; done', "sh", ...paths],
            outputPaths: paths,
          },
        });

      expect(result.outputFiles.map(({ path }) => path).sort()).toEqual(paths.toSorted());
    });

    test("what is printed need not be text (all)", async () => {
      const { result } = await farm()
        .tool()
        .run({ script: "printf '\\377\\000\\200' | tee /dev/stderr" });

      expect([...result.stdoutRaw]).toEqual([0xff, 0, 0x80]);
      expect([...result.stderrRaw]).toEqual([0xff, 0, 0x80]);
    });

    test("outputs that are larger than a message come whole (all)", async () => {
      const tool = farm().tool();
      const { result } = await tool.run({
        script: "yes large | head -c 9000000 > o; wc -c < o",
        command: { outputPaths: ["o"] },
      });

      const digest = result.outputFiles[0]?.digest;
      const resourceName = `blobs/${digest && nameOf(digest)}`;
      const parts = await tool.client.stream(ByteStream.method.read, { resourceName }).rest();
      expect(textOf(result.stdoutRaw)).toBe("9000000\n");
      const bytes = Buffer.concat(parts.map(({ data }) => data));
      expect(await tool.digestOf(bytes)).toEqual(digest);
    });

    test("no cgroup that a command sees lies outside of what its /proc shows (Java 17 ends there: Bazel, Gradle)", async () => {
      const { result } = await farm().tool().run({
        script:
          "grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f4 | grep -c '^/[.][.]'; true",
      });

      expect(textOf(result.stdoutRaw)).toBe("0\n");
    });

    test("an empty input file needs no upload (Buck2 never sends the empty blob)", async () => {
      const tool = farm().tool();
      const digest = await tool.digestOf(bytesOf(""));
      const { result } = await tool.run({ script: "wc -c < f", inputs: { f: file({ digest }) } });

      expect(textOf(result.stdoutRaw)).toBe("0\n");
    });
  });
}
