import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  ExecuteOperationMetadataSchema,
  Execution,
  ExecutionStage_Value as Stage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type Operation, Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { responseIn } from "./build-tool.ts";
import { type Incoming, refusal } from "./foreign-client.ts";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const stageOf = ({ metadata }: Operation) =>
  metadata && anyUnpack(metadata, ExecuteOperationMetadataSchema)?.stage;

export function operationRules(farm: () => SharedFarm): void {
  const { cancelOperation, getOperation, waitOperation, deleteOperation, listOperations } =
    Operations.method;
  const waitFor = (name: string) => farm().client.stream(Execution.method.waitExecution, { name });
  const cancel = (name: string) => farm().client.unary(cancelOperation, { name });

  async function untilExecuting(operations: Incoming<Operation>): Promise<Operation> {
    for (;;) {
      const next = await operations.next();
      if (stageOf(next) === Stage.EXECUTING) return next;
    }
  }

  describe("Operations", () => {
    test("after a cut stream, WaitExecution goes on with the same execution (Bazel)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.5; date +%N" }));
      const { name } = await operations.next();
      operations.cut();

      const waited = await tool.ran(waitFor(name));

      expect(waited.operation.name).toBe(name);
      expect(waited.result.exitCode).toBe(0);
    });

    test("WaitExecution tells at once how it stands, and works for any number of listeners (Bazel)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.5; date +%N" }));
      const { name } = await operations.next();
      const waits = [waitFor(name), waitFor(name)];

      const firsts = await Promise.all(waits.map((wait) => wait.next()));

      expect(firsts.map((first) => first.name)).toEqual([name, name]);
      const ends = await Promise.all([operations, ...waits].map((each) => tool.ran(each)));
      const printed = ends.map(({ result }) => textOf(result.stdoutRaw));
      expect(new Set(printed).size).toBe(1);
    });

    test("the name is good after the end, too (Bazel reconnects late)", async () => {
      const tool = farm().tool();
      const { operation, result } = await tool.run({ script: "date +%N" });

      const again = await tool.ran(waitFor(operation.name));

      expect(textOf(again.result.stdoutRaw)).toBe(textOf(result.stdoutRaw));
    });

    test.each(["operations/5f0c7f5e-0000-4000-8000-000000000000", "someone/else's/name", ""])(
      "WaitExecution for %j, which nobody knows, is NOT_FOUND (Bazel then executes anew)",
      async (name) => {
        expect(await refusal(waitFor(name).rest())).toMatchObject({ code: Code.NOT_FOUND });
      },
    );

    test("GetOperation tells how it stands, and at the end the response (trexe --operation)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.3; echo over" }));
      const { name } = await untilExecuting(operations);

      const during = await farm().client.unary(getOperation, { name });
      await operations.rest();
      const after = await farm().client.unary(getOperation, { name });

      expect(during).toMatchObject({ name, done: false });
      expect(stageOf(during)).toBe(Stage.EXECUTING);
      expect(textOf(responseIn(after).result?.stdoutRaw)).toBe("over\n");
    });

    test("WaitOperation waits as long as it is told to, and no longer (trexe)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.6" }));
      const { name } = await operations.next();
      const wait = (timeout: { seconds?: bigint; nanos?: number }) =>
        farm().client.unary(waitOperation, { name, timeout });

      expect((await wait({ nanos: 50_000_000 })).done).toBe(false);
      expect((await wait({ seconds: 20n })).done).toBe(true);
      await operations.rest();
    });

    test("an operation that nobody knows is NOT_FOUND for Get and Cancel", async () => {
      const name = "operations/5f0c7f5e-0000-4000-8000-000000000000";

      const get = farm().client.unary(getOperation, { name });
      expect(await refusal(get)).toMatchObject({ code: Code.NOT_FOUND });
      expect(await refusal(cancel(name))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("CancelOperation ends a running one: CANCELLED, in its response (Pants, trexe --cancel)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "exec sleep 60" }));
      const { name } = await untilExecuting(operations);

      await cancel(name);

      const last = (await operations.rest()).at(-1);
      expect(last && responseIn(last).status?.code).toBe(Code.CANCELLED);
      const later = await farm().client.unary(getOperation, { name });
      expect(responseIn(later).status?.code).toBe(Code.CANCELLED);
    });

    test("CancelOperation harms no other who wants the same (Pants beside Bazel)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "sleep 0.7; echo over" });
      const [mine, other] = [tool.execute(action), tool.execute(action)];
      const [{ name }] = await Promise.all([untilExecuting(mine), untilExecuting(other)]);

      await cancel(name);

      const last = (await mine.rest()).at(-1);
      expect(last && responseIn(last).status?.code).toBe(Code.CANCELLED);
      expect(textOf((await tool.ran(other)).result.stdoutRaw)).toBe("over\n");
    });

    test("CancelOperation after the end changes nothing (Pants cancels what it no longer needs)", async () => {
      const tool = farm().tool();
      const { operation } = await tool.run({ script: "echo over" });

      await cancel(operation.name);

      const later = await farm().client.unary(getOperation, { name: operation.name });
      expect(responseIn(later).status?.code ?? 0).toBe(Code.OK);
      expect(textOf(responseIn(later).result?.stdoutRaw)).toBe("over\n");
    });

    test("what was cancelled can be executed again (Pants after Ctrl-C)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "sleep 0.3; echo over" });
      const first = tool.execute(action);
      await cancel((await first.next()).name);
      await first.rest();

      const second = await tool.ran(tool.execute(action));

      expect(textOf(second.result.stdoutRaw)).toBe("over\n");
    });

    test("leaving the stream ends nothing at once (Bazel comes back)", async () => {
      const tool = farm().tool();
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.4; echo over" }));
      const { name } = await untilExecuting(operations);
      operations.cut();

      const { done } = await farm().client.unary(waitOperation, {
        name,
        timeout: { seconds: 20n },
      });

      expect(done).toBe(true);
      const later = await farm().client.unary(getOperation, { name });
      expect(textOf(responseIn(later).result?.stdoutRaw)).toBe("over\n");
    });

    test("one of two who leaves does not take the other's execution with him (two CI machines)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "sleep 0.5; echo over" });
      const [leaving, staying] = [tool.execute(action), tool.execute(action)];
      await Promise.all([untilExecuting(leaving), untilExecuting(staying)]);

      leaving.cut();

      expect(textOf((await tool.ran(staying)).result.stdoutRaw)).toBe("over\n");
    });

    test("Delete is taken and List is UNIMPLEMENTED, as the API allows (generic clients)", async () => {
      const { operation } = await farm().tool().run({ script: "true" });
      const { client } = farm();

      await client.unary(deleteOperation, { name: operation.name });
      const listed = client.unary(listOperations, { name: "" });
      expect(await refusal(listed)).toMatchObject({ code: Code.UNIMPLEMENTED });
    });
  });
}
