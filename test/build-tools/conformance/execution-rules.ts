import { fromBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  ExecuteOperationMetadataSchema,
  ExecutionStage_Value as Stage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Operation } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { responseIn } from "./build-tool.ts";
import { bytesOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Prints a different text in each run. */
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
      const { result } = await farm().tool().run({ script: "sleep 0.2" });

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
      // Less than 200 ms: the worker takes the first time when it has started the process, which may sleep already.
      expect((times[5] ?? 0) - (times[4] ?? 0)).toBeGreaterThanOrEqual(100);
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
}

const msOf = (at: Timestamp | undefined) => (at === undefined ? Number.NaN : timestampMs(at));

function metadataIn({ metadata }: Operation) {
  if (metadata === undefined) throw new Error("an operation has no metadata");
  return fromBinary(ExecuteOperationMetadataSchema, metadata.value);
}
