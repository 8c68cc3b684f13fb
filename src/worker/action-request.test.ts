import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { WorkSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { parseWork } from "./action-request.ts";

/** Returns the result of an action with this platform. */
const asking = (platform: Readonly<Record<string, string>>) =>
  parseWork(
    create(WorkSchema, {
      command: toBinary(CommandSchema, create(CommandSchema, { arguments: ["true"] })),
      action: toBinary(
        ActionSchema,
        create(ActionSchema, {
          inputRootDigest: toDigestMessage(digestOf(new Uint8Array())),
          platform: {
            properties: Object.entries(platform).map(([name, value]) => ({ name, value })),
          },
        }),
      ),
    }),
  );

test("properties configure the farm", () => {
  expect(asking({})).toMatchObject({ network: false, limits: {} });
  expect(asking({ network: "on", memory: "1e9", cpus: "0.5" })).toMatchObject({
    network: true,
    limits: { memoryBytes: 1e9, cpus: 0.5 },
  });
});

// An action with an unknown value would run without the requested property, and no person would notice.
test.each([
  [{ network: "true" }, 'network is "true"; it must be "on" or "off"'],
  [{ memory: "2G" }, 'memory is "2G"; it must be a positive number'],
  [{ cpus: "0" }, 'cpus is "0"; it must be a positive number'],
])("a value that the farm does not know is refused: %j", (platform, message) => {
  expect(() => asking(platform)).toThrow(message);
});
