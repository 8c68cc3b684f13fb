import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { readAction } from "./read-command.ts";

test("an action is shown without values of secrets in variables, words and properties", async () => {
  const store = memoryBlobStore();
  const command = toBinary(
    CommandSchema,
    create(CommandSchema, {
      arguments: [
        "publish",
        "--token=npm_SECRET",
        "--registry",
        "https://me:npm_SECRET@r.example/",
      ],
      environmentVariables: [
        { name: "NPM_TOKEN", value: "npm_SECRET" },
        { name: "LANG", value: "C" },
      ],
    }),
  );
  await store.put(digestOf(command), command);
  const action = toBinary(
    ActionSchema,
    create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(command)),
      inputRootDigest: toDigestMessage(digestOf(new Uint8Array())),
      platform: { properties: [{ name: "registry-password", value: "npm_SECRET" }] },
    }),
  );
  await store.put(digestOf(action), action);

  const read = await readAction(store, digestOf(action));

  expect(JSON.stringify(read)).not.toContain("npm_SECRET");
  expect(read.command).toMatchObject({
    arguments: ["publish", "--token=[hidden]", "--registry", "https://r.example/"],
    environment: { NPM_TOKEN: "[hidden]", LANG: "C" },
    platform: { "registry-password": "[hidden]" },
  });
});
