import { fromBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  ExecuteOperationMetadataSchema,
  ExecutionStage_Value as Stage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { file, responseIn } from "./build-tool.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Prints something else whenever it runs. */
const clock = "date +%s.%N";

export function executionRules(farm: () => SharedFarm): void {
  describe("Execute", () => {
    test("the first Operation comes at once and has a name (Bazel waits by it when the stream breaks)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.3" }));

      const first = await operations.next();

      expect(first.name).not.toBe("");
      expect(first.done).toBe(false);
      const all = [first, ...(await operations.rest())];
      expect(new Set(all.map(({ name }) => name)).size).toBe(1);
    });

    test("stages go from queued to executing to completed, and name the action (Buck2 and Pants show them)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "sleep 0.5" });

      const seen = (await tool.execute(action).rest()).map(metadataIn);

      const stages = seen.map(({ stage }) => stage);
      expect(stages).toEqual(stages.toSorted((a, b) => a - b));
      expect(stages).toContain(Stage.EXECUTING);
      expect(stages.at(-1)).toBe(Stage.COMPLETED);
      for (const { actionDigest } of seen) expect(actionDigest).toEqual(action);
    });

    test("a done operation has a response, never an error (Bazel throws at one, Pants tries again)", async () => {
      const tool = farm().tool();
      const all = await tool.execute(await tool.putAction({ script: "exit 1" })).rest();

      expect(all.filter(({ done }) => done)).toHaveLength(1);
      const last = all.at(-1);
      expect(last?.done).toBe(true);
      expect(last?.result.case).toBe("response");
      expect(last && responseIn(last).result?.exitCode).toBe(1);
    });

    test("a command that fails has status OK and its exit code (all clients)", async () => {
      const { response, result } = await farm().tool().run({ script: "echo why >&2; exit 42" });

      expect(response.status?.code ?? 0).toBe(Code.OK);
      expect(response.cachedResult).toBe(false);
      expect(result.exitCode).toBe(42);
      expect(textOf(result.stderrRaw)).toBe("why\n");
    });

    test("a command that a signal ended has status OK and 128 with the signal (Bazel)", async () => {
      const { response, result } = await farm().tool().run({ script: "kill -SEGV $$" });

      expect(response.status?.code ?? 0).toBe(Code.OK);
      expect(result.exitCode).toBe(139);
    });

    test("the worker and every timestamp are there, in order (Bazel accounts for phases by them)", async () => {
      const { result } = await farm().tool().run({ script: "sleep 0.05" });

      const known = result.executionMetadata;
      expect(known?.worker).toBe("worker-1");
      const times = [
        known?.queuedTimestamp,
        known?.workerStartTimestamp,
        known?.inputFetchStartTimestamp,
        known?.inputFetchCompletedTimestamp,
        known?.executionStartTimestamp,
        known?.executionCompletedTimestamp,
        known?.outputUploadStartTimestamp,
        known?.outputUploadCompletedTimestamp,
        known?.workerCompletedTimestamp,
      ].map(msOf);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect((times[5] ?? 0) - (times[4] ?? 0)).toBeGreaterThanOrEqual(50);
    });

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

    test("stdout and output files are inlined on request (recc, moon)", async () => {
      const { result } = await farm()
        .tool()
        .run(
          {
            script: "yes | head -c 30000; echo o > o; echo p > p",
            command: { outputPaths: ["o", "p"] },
          },
          { inlineStdout: true, inlineOutputFiles: ["o"] },
        );

      expect(result.stdoutRaw).toHaveLength(30_000);
      expect(result.outputFiles.map(({ contents }) => textOf(contents))).toEqual(["o\n", ""]);
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

    test("an empty input file needs no upload (Buck2 never sends the empty blob)", async () => {
      const tool = farm().tool();
      const digest = await tool.digestOf(bytesOf(""));
      const { result } = await tool.run({ script: "wc -c < f", inputs: { f: file({ digest }) } });

      expect(textOf(result.stdoutRaw)).toBe("0\n");
    });

    test("the Action's salt makes it another one (Bazel 7 sets one to tell its caches apart)", async () => {
      const tool = farm().tool();
      const salted = (text: string) =>
        tool.putAction({ script: clock, action: { salt: bytesOf(`salt ${text}`) } });
      const actions = await Promise.all([salted("a"), salted("b"), salted("a")]);
      const printed = [];
      for (const action of actions) {
        printed.push(textOf((await tool.ran(tool.execute(action))).result.stdoutRaw));
      }

      expect(printed[0]).not.toBe(printed[1]);
      expect(printed[2]).toBe(printed[0]);
    });

    test("priorities of either sign are taken (Bazel --remote_execution_priority, trexe)", async () => {
      for (const priority of [-50, 7, 2_000_000_000]) {
        const { result } = await farm()
          .tool()
          .run(
            { script: "true" },
            { executionPolicy: { priority }, resultsCachePolicy: { priority } },
          );
        expect(result.exitCode).toBe(0);
      }
    });

    test("a timeout that is longer than anything runs is not taken for a short one (Bazel)", async () => {
      const tool = farm().tool();
      for (const seconds of [2_147_484n, 30_000_000n, 315_576_000_000n]) {
        const action = await tool.putAction({
          script: "sleep 0.1; echo ran",
          action: { timeout: { seconds } },
        });
        expect((await tool.ran(tool.execute(action))).result.exitCode).toBe(0);
      }
    });
  });

  describe("Execute and the cache", () => {
    test("what was executed is answered from the cache, as a cached result (all clients)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: clock });
      const first = await tool.ran(tool.execute(action));

      const second = await tool.ran(tool.execute(action));

      expect(first.response.cachedResult).toBe(false);
      expect(second.response.cachedResult).toBe(true);
      expect(textOf(second.result.stdoutRaw)).toBe(textOf(first.result.stdoutRaw));
      expect(second.operation.done).toBe(true);
      expect(second.operation.name).not.toBe(first.operation.name);
    });

    test("skip_cache_lookup executes again, and its result replaces the one that is there (Pants; Bazel after lost outputs)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: clock });
      const first = await tool.ran(tool.execute(action));

      const second = await tool.ran(tool.execute(action, { skipCacheLookup: true }));

      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
      const cached = await tool.cached(action);
      expect(textOf(cached.stdoutRaw)).toBe(textOf(second.result.stdoutRaw));
    });

    test("a failed result is kept from GetActionResult and executed again (Bazel executes again when it gets one)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: `${clock}; exit 3` });
      const first = await tool.ran(tool.execute(action));

      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const second = await tool.ran(tool.execute(action));
      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
    });

    test("do_not_cache is neither stored nor joined (Bazel's tag no-cache, Buck2's local-only outputs)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({
        script: `sleep 0.3; ${clock}`,
        action: { doNotCache: true },
      });

      const both = await Promise.all([
        tool.ran(tool.execute(action)),
        tool.ran(tool.execute(action)),
      ]);

      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(2);
      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const third = await tool.ran(tool.execute(action));
      expect(third.response.cachedResult).toBe(false);
    });

    test("two clients that ask for the same at once share one execution, by an operation each (CI with many machines)", async () => {
      const [one, other] = [farm().tool(), farm().tool()];
      const action = await one.putAction({ script: `sleep 0.5; ${clock}` });

      const both = await Promise.all([
        one.ran(one.execute(action)),
        other.ran(other.execute(action)),
      ]);

      expect(new Set(both.map(({ operation }) => operation.name)).size).toBe(2);
      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(1);
    });

    test("instance names are kept apart: results of one are none of the other's (one farm, many repositories)", async () => {
      const [one, other] = ["team/a", "team/b"].map((instanceName) =>
        farm().tool({ instanceName }),
      );
      if (one === undefined || other === undefined) throw new Error("there are two");
      const action = await one.putAction({ script: clock });
      const first = await one.ran(one.execute(action));

      expect(await refusal(other.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
      const second = await other.ran(other.execute(action));
      expect(second.response.cachedResult).toBe(false);
      expect(textOf(second.result.stdoutRaw)).not.toBe(textOf(first.result.stdoutRaw));
    });

    test("the same at once in two instances is executed twice", async () => {
      const tools = ["team/c", "team/d"].map((instanceName) => farm().tool({ instanceName }));
      const [one] = tools;
      const action = await one?.putAction({ script: `sleep 0.3; ${clock}` });
      if (action === undefined) throw new Error("there is one");

      const both = await Promise.all(tools.map((tool) => tool.ran(tool.execute(action))));

      expect(new Set(both.map(({ result }) => textOf(result.stdoutRaw))).size).toBe(2);
    });
  });
}

const msOf = (at: Timestamp | undefined) => (at === undefined ? Number.NaN : timestampMs(at));

function metadataIn({ metadata }: Operation) {
  if (metadata === undefined) throw new Error("an operation has no metadata");
  return fromBinary(ExecuteOperationMetadataSchema, metadata.value);
}
