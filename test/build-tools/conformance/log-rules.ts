import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  type ExecuteOperationMetadata,
  ExecuteOperationMetadataSchema,
  ExecutionStage_Value as Stage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream, type ReadResponse } from "#proto/google/bytestream/bytestream_pb.ts";
import { type Operation, Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { type Incoming, refusal } from "./foreign-client.ts";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const metadataOf = ({ metadata }: Operation) =>
  metadata && anyUnpack(metadata, ExecuteOperationMetadataSchema);

async function untilExecuting(
  operations: Incoming<Operation>,
): Promise<{ readonly name: string; readonly known: ExecuteOperationMetadata }> {
  for (;;) {
    const operation = await operations.next();
    const known = metadataOf(operation);
    if (known?.stage === Stage.EXECUTING) return { name: operation.name, known };
  }
}

const all = (answers: readonly ReadResponse[]) =>
  Buffer.concat(answers.map(({ data }) => data)).toString();

async function untilReads(answers: Incoming<ReadResponse>, text: string): Promise<string> {
  let read = "";
  while (!read.includes(text)) read += textOf((await answers.next()).data);
  return read;
}

export function logRules(farm: () => SharedFarm): void {
  const readLog = (resourceName: string, readOffset = 0n, readLimit = 0n) =>
    farm().client.stream(ByteStream.method.read, { resourceName, readOffset, readLimit });

  describe("What an action prints while it runs (ExecuteOperationMetadata)", () => {
    test("stdout is read as it comes, before the action is over, and ends with it", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "echo first; sleep 3600" });
      const operations = tool.execute(action);
      const { name, known } = await untilExecuting(operations);
      const stdout = readLog(known.stdoutStreamName);

      expect(await untilReads(stdout, "first\n")).toBe("first\n");

      await farm().client.unary(Operations.method.cancelOperation, { name });
      expect(all(await stdout.rest())).toBe("");
      await operations.rest();
    });

    test("both streams give all that there will be in the result, in any project", async () => {
      const tool = farm().tool({ instanceName: "team/logs" });
      const script = "for n in 1 2 3; do echo $n; sleep 0.5; done; echo err >&2";
      const operations = tool.execute(await tool.putAction({ script }));
      const { known } = await untilExecuting(operations);
      const streams = [known.stdoutStreamName, known.stderrStreamName];

      const read = await Promise.all(streams.map((name) => readLog(name).rest()));

      expect(read.map(all)).toEqual(["1\n2\n3\n", "err\n"]);
      const { result } = await tool.ran(operations);
      expect(textOf(await tool.read(result.stdoutDigest))).toBe("1\n2\n3\n");
    });

    test("it is readable after the end, too, from an offset and up to a limit", async () => {
      const tool = farm().tool();
      const operations = tool.execute(
        await tool.putAction({ script: "sleep 1.5; echo 0123456789" }),
      );
      const { stdoutStreamName } = (await untilExecuting(operations)).known;
      await operations.rest();

      expect(all(await readLog(stdoutStreamName).rest())).toBe("0123456789\n");
      expect(all(await readLog(stdoutStreamName, 4n).rest())).toBe("456789\n");
      expect(all(await readLog(stdoutStreamName, 4n, 3n).rest())).toBe("456");
      expect(all(await readLog(stdoutStreamName, 99n).rest())).toBe("");
    });

    test("an action that waits has no streams yet", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.2" }));
      const stages = (await operations.rest()).map(metadataOf);
      const waiting = stages.filter((known) => known?.stage === Stage.QUEUED);

      expect(waiting.map((known) => known?.stdoutStreamName)).toEqual(waiting.map(() => ""));
    });

    test("another project's name for it, another attempt, or nobody's, is NOT_FOUND", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 3600" }));
      const { name: operation, known } = await untilExecuting(operations);
      const name = known.stdoutStreamName;
      const wrong = [
        `another/${name}`,
        name.replace("/1/", "/7/"),
        name.replace(/[0-9a-f]{8}-/, "00000000-"),
      ];

      for (const each of wrong) {
        expect(await refusal(readLog(each).rest())).toMatchObject({ code: Code.NOT_FOUND });
      }
      await farm().client.unary(Operations.method.cancelOperation, { name: operation });
      await operations.rest();
    });
  });
}
