import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { Fault } from "#core/fault.ts";
import { secretsProperty } from "#core/platform.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readAction } from "./read-action.ts";
import { secretsOfLease } from "./secrets-of-lease.ts";

const properties = (said: readonly string[]) => ({
  properties: said.map((value) => ({ name: secretsProperty, value })),
});
const action = (...said: string[]) =>
  toBinary(ActionSchema, create(ActionSchema, { platform: properties(said) }));
const value = { name: "KEY", value: Buffer.from("12345678") };
const open = async () => [value];

test("a lease over a private line carries what its action names", async () => {
  expect(
    await secretsOfLease(action("KEY@1.1"), protectedDomain, { isPrivate: true, open }),
  ).toEqual([value]);
  expect(await secretsOfLease(action(), protectedDomain, { isPrivate: false, open })).toEqual([]);
});

test("over a line that others can read, none is sent, and it is said what would help", async () => {
  const sent = secretsOfLease(action("KEY@1.1"), protectedDomain, { isPrivate: false, open });

  // Another worker may have a better connection, so the execution is retried and does not fail permanently.
  await expect(sent).rejects.toMatchObject({ code: "unavailable" });
  await expect(sent).rejects.toThrow("GRANGE_SECRETS_IN_CLEAR=1");
});

test.each([[["KEY"]], [["KEY@1.1", "KEY@1.2"]], [["../KEY@1.1"]], [[""]]])(
  "an action that says %j of secrets is run by nobody",
  async (said) => {
    await expect(
      secretsOfLease(action(...said), protectedDomain, { isPrivate: true, open }),
    ).rejects.toMatchObject({ code: "failed_precondition" });
  },
);

test.each(["action", "command"])(
  "a build tool whose %s names secrets is refused, with those of a job's own action too",
  async (where) => {
    const blobs = memoryBlobStore();
    const put = async (bytes: Uint8Array) => {
      await blobs.put(digestOf(bytes), bytes);
      return toDigestMessage(digestOf(bytes));
    };
    const named = properties(["KEY@1.1"]);
    const command = await put(
      toBinary(
        CommandSchema,
        create(CommandSchema, {
          arguments: ["x"],
          ...(where === "command" ? { platform: named } : {}),
        }),
      ),
    );
    const bytes = toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: command,
        inputRootDigest: await put(new Uint8Array()),
        ...(where === "action" ? { platform: named } : {}),
      }),
    );
    await blobs.put(digestOf(bytes), bytes);

    const read = readAction(digestOf(bytes), blobs);

    await expect(read).rejects.toBeInstanceOf(Fault);
    await expect(read).rejects.toThrow("only jobs of graphs get secrets");
  },
);
