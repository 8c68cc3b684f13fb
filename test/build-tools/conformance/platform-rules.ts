import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  ExecuteOperationMetadataSchema,
  ExecutionStage_Value as Stage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { type ActionSpec } from "./build-tool.ts";
import { refusal } from "./foreign-client.ts";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const platform = (...pairs: [string, string][]) => ({
  platform: { properties: pairs.map(([name, value]) => ({ name, value })) },
});
const here = platform(["OSFamily", "linux"]);
const nowhere = platform(["OSFamily", "linux"], ["pool", "there is none"]);

export function platformRules(farm: () => SharedFarm): void {
  const printed = async (spec: ActionSpec) => {
    const { result } = await farm()
      .tool()
      .run({ script: "echo ran", ...spec });
    return textOf(result.stdoutRaw);
  };

  describe("Platform", () => {
    test("one in the Command only is enough (Buck2 and Pants set no other)", async () => {
      expect(await printed({ command: here })).toBe("ran\n");
    });

    test("one in the Command only counts: no worker that lacks it takes the action (Buck2, Pants)", async () => {
      const tool = farm().tool();
      const waiting = tool.execute(await tool.putAction({ script: "true", command: nowhere }));
      const { name } = await waiting.next();
      // A later request that can be served is served.
      await printed({ command: here });

      const now = await farm().client.unary(Operations.method.getOperation, { name });

      expect(now.done).toBe(false);
      const metadata = now.metadata && anyUnpack(now.metadata, ExecuteOperationMetadataSchema);
      expect(metadata?.stage).toBe(Stage.QUEUED);
      await farm().client.unary(Operations.method.cancelOperation, { name });
      await waiting.rest();
    });

    test("the Action's wins over the Command's (REv2 2.2)", async () => {
      expect(await printed({ action: here, command: nowhere })).toBe("ran\n");
    });

    test("one in the Action only is enough (remote-apis-sdks since 2.2)", async () => {
      expect(await printed({ action: here })).toBe("ran\n");
    });

    test("the same in both is one (Bazel)", async () => {
      expect(await printed({ action: here, command: here })).toBe("ran\n");
    });

    test("properties need not be sorted (Buck2)", async () => {
      const unsorted = platform(["network", "off"], ["OSFamily", "linux"], ["cpus", "1"]);

      expect(await printed({ command: unsorted })).toBe("ran\n");
    });

    test("OSFamily is Linux or linux (Bazel's and recc's documents have it both ways)", async () => {
      expect(await printed({ command: platform(["OSFamily", "Linux"]) })).toBe("ran\n");
    });

    test("no platform at all is none that anything is missing from (trexe)", async () => {
      expect(await printed({})).toBe("ran\n");
    });

    test("a property with two values is refused, not guessed at (the API lets servers decide)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({
        script: "true",
        command: platform(["pool", "a"], ["pool", "b"]),
      });

      expect(await refusal(tool.execute(action).rest())).toMatchObject({ code: 3 });
    });
  });
}
