import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  DigestSchema,
  DirectorySchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { type ActionSpec, type BuildTool, file, responseIn } from "./build-tool.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

export function failureRules(farm: () => SharedFarm): void {
  describe("Failures are told inside of the response (Pants and Bazel read details nowhere else)", () => {
    test("a timeout is DEADLINE_EXCEEDED, with what was printed and made until then (Bazel's tests)", async () => {
      const { operation, response, result } = await farm()
        .tool()
        .run({
          script: "echo begun; echo partial > o; exec sleep 60",
          command: { outputPaths: ["o"] },
          action: { timeout: { nanos: 600_000_000 } },
        });

      expect(response.status?.code).toBe(Code.DEADLINE_EXCEEDED);
      expect(operation.done).toBe(true);
      expect(textOf(result.stdoutRaw)).toBe("begun\n");
      expect(result.outputFiles.map(({ path }) => path)).toEqual(["o"]);
    });

    test("what timed out is not cached, even when it exits with 0 (Bazel)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({
        script: "trap 'exit 0' TERM; sleep 60 & wait",
        action: { timeout: { nanos: 600_000_000 } },
      });

      const { status } = await tool.responseTo(action);

      expect(status?.code).toBe(Code.DEADLINE_EXCEEDED);
      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("a result is not there without an OK or a run: no status is OK without a result (Bazel: DATA_LOSS)", async () => {
      const tool = farm().tool();
      const spoilt = await tool.putAction({
        script: "true",
        inputs: { d: { f: file({ digest: await tool.digestOf(bytesOf("gone")) }) } },
      });

      const { status, result } = await tool.responseTo(spoilt);

      expect(result).toBeUndefined();
      expect(status?.code).not.toBe(Code.OK);
    });

    test("an input tree with an illegal name is INVALID_ARGUMENT, once, not tried again and again (all)", async () => {
      const tool = farm().tool();
      const digest = await tool.put(bytesOf("x"));
      const root = await tool.put(
        toBinary(DirectorySchema, create(DirectorySchema, { files: [{ name: "../up", digest }] })),
      );
      const action = await tool.putAction({ script: "true", action: { inputRootDigest: root } });

      const { status } = await tool.responseTo(action);

      expect(status?.code).toBe(Code.INVALID_ARGUMENT);
      expect(status?.message).toContain("../up");
    });

    test("a working directory outside of the inputs is INVALID_ARGUMENT (all)", async () => {
      const tool = farm().tool();
      for (const workingDirectory of ["../..", "/etc"]) {
        const action = await tool.putAction({ script: "true", command: { workingDirectory } });
        const { status } = await tool.responseTo(action);
        expect(status?.code).toBe(Code.INVALID_ARGUMENT);
      }
    });

    test("an output outside of the inputs is refused and says so (all)", async () => {
      const tool = farm().tool();
      for (const path of ["../../etc/passwd", "/etc/passwd"]) {
        const action = await tool.putAction({ script: "true", command: { outputPaths: [path] } });
        const { status } = await tool.responseTo(action);
        expect([Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION]).toContain(status?.code);
      }
    });

    test("a Command without arguments is INVALID_ARGUMENT (all)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({});

      const last = (await tool.execute(action).rest()).at(-1);

      expect(last && responseIn(last).status?.code).toBe(Code.INVALID_ARGUMENT);
    });
  });

  describe("However an execution ends", () => {
    test.each<{ end: string; code: Code; spec: (tool: BuildTool) => Promise<ActionSpec> }>([
      { end: "well", code: Code.OK, spec: async () => ({ script: "true" }) },
      { end: "with an exit code", code: Code.OK, spec: async () => ({ script: "exit 9" }) },
      {
        end: "by its timeout",
        code: Code.DEADLINE_EXCEEDED,
        spec: async () => ({
          script: "exec sleep 60",
          action: { timeout: { nanos: 400_000_000 } },
        }),
      },
      {
        end: "for want of an input",
        code: Code.FAILED_PRECONDITION,
        spec: async (tool) => ({
          script: "true",
          inputs: { f: file({ digest: await tool.digestOf(bytesOf("never sent at all")) }) },
        }),
      },
      {
        end: "for want of its root",
        code: Code.FAILED_PRECONDITION,
        spec: async (tool) => ({
          script: "true",
          action: { inputRootDigest: await tool.digestOf(bytesOf("no root was sent")) },
        }),
      },
      {
        end: "with an output of the wrong kind",
        code: Code.FAILED_PRECONDITION,
        spec: async () => ({ script: "mkdir o", command: { outputFiles: ["o"] } }),
      },
    ])(
      "$end: the stream is OK, one operation is done, and its response says how (Pants, Bazel)",
      async (rule) => {
        const tool = farm().tool();
        const action = await tool.putAction(await rule.spec(tool));

        // Throws if the stream itself ends with another status than OK.
        const operations = await tool.execute(action).rest();

        expect(operations.map(({ done }) => done).lastIndexOf(false)).toBe(operations.length - 2);
        const last = operations.at(-1);
        expect(last && responseIn(last).status?.code).toBe(rule.code);
        expect(operations.some(({ result }) => result.case === "error")).toBe(false);
      },
    );
  });

  describe("Wrong requests", () => {
    test("a blob that is no Action is INVALID_ARGUMENT (all; nothing that trying again would help)", async () => {
      const tool = farm().tool();
      const noAction = await tool.put(bytesOf("\xff\xff this is no Action"));

      const call = tool.execute(noAction).rest();

      expect(await refusal(call)).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("an Action whose Command is no Command is INVALID_ARGUMENT (all)", async () => {
      const tool = farm().tool();
      const commandDigest = await tool.put(bytesOf("\xff\xff this is no Command"));
      const action = await tool.putAction({ action: { commandDigest } });

      const call = tool.execute(action).rest();

      expect(await refusal(call)).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("an Execute without a digest is INVALID_ARGUMENT (all)", async () => {
      const tool = farm().tool();

      const none = tool.client.stream(Execution.method.execute, {});
      const empty = tool.execute(create(DigestSchema));

      expect(await refusal(none.rest())).toMatchObject({ code: Code.INVALID_ARGUMENT });
      expect(await refusal(empty.rest())).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });
  });
}
