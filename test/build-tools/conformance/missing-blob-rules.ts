import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  ActionSchema,
  DigestFunction_Value as By,
  CommandSchema,
  type Digest,
  DirectorySchema,
  type ExecuteResponse,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { PreconditionFailureSchema } from "#proto/google/rpc/error_details_pb.ts";
import type { BuildTool } from "./build-tool.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/**
 * Returns the missing blobs as Bazel and Pants read them: they fail unless there is one detail of
 * one kind.
 */
function missingIn({ status }: ExecuteResponse): string[] {
  expect(status?.code).toBe(Code.FAILED_PRECONDITION);
  expect(status?.details).toHaveLength(1);
  const [detail] = status?.details ?? [];
  expect(detail?.typeUrl).toBe("type.googleapis.com/google.rpc.PreconditionFailure");
  const { violations } = fromBinary(PreconditionFailureSchema, detail?.value ?? bytesOf(""));
  expect(new Set(violations.map(({ type }) => type))).toEqual(new Set(["MISSING"]));
  return violations.map(({ subject }) => subject).sort();
}

const subjects = (...digests: Digest[]) =>
  digests.map((digest) => `blobs/${nameOf(digest)}`).sort();

/** Returns an action of which nothing is uploaded, and the bytes of all its parts. */
async function unsent(tool: BuildTool, name: string) {
  const parts = new Map<string, Uint8Array>();
  const keep = async (bytes: Uint8Array) => {
    const digest = await tool.digestOf(bytes);
    parts.set(nameOf(digest), bytes);
    return digest;
  };
  const deep = await keep(bytesOf(`deep ${name}\n`));
  const sub = await keep(
    toBinary(DirectorySchema, create(DirectorySchema, { files: [{ name: "f", digest: deep }] })),
  );
  const flat = await keep(bytesOf(`flat ${name}\n`));
  const root = await keep(
    toBinary(
      DirectorySchema,
      create(DirectorySchema, {
        files: [{ name: "f", digest: flat }],
        directories: [{ name: "sub", digest: sub }],
      }),
    ),
  );
  const command = await keep(
    toBinary(
      CommandSchema,
      create(CommandSchema, {
        arguments: ["cat", "f", "sub/f"],
        environmentVariables: [{ name: "NAME", value: name }],
      }),
    ),
  );
  const salt = bytesOf(name);
  const message = create(ActionSchema, { commandDigest: command, inputRootDigest: root, salt });
  const action = await keep(toBinary(ActionSchema, message));
  const send = async (...digests: Digest[]) => {
    for (const digest of digests) await tool.put(parts.get(nameOf(digest)) ?? bytesOf(""));
  };
  return { action, command, root, sub, flat, deep, send, printed: `flat ${name}\ndeep ${name}\n` };
}

type Unsent = Awaited<ReturnType<typeof unsent>>;

export function missingBlobRules(farm: () => SharedFarm): void {
  describe("Missing blobs", () => {
    test.each<{ what: string; sent: (all: Unsent) => Digest[]; told: (all: Unsent) => Digest[] }>([
      { what: "the Action", sent: () => [], told: ({ action }) => [action] },
      {
        what: "the Command",
        sent: ({ action, root, sub, flat, deep }) => [action, root, sub, flat, deep],
        told: ({ command }) => [command],
      },
      {
        what: "the input root",
        sent: ({ action, command, sub, flat, deep }) => [action, command, sub, flat, deep],
        told: ({ root }) => [root],
      },
      {
        what: "a directory below",
        sent: ({ action, command, root, flat, deep }) => [action, command, root, flat, deep],
        told: ({ sub }) => [sub],
      },
      {
        what: "a file deep in it",
        sent: ({ action, command, root, sub, flat }) => [action, command, root, sub, flat],
        told: ({ deep }) => [deep],
      },
      {
        what: "two files and the Command",
        sent: ({ action, root, sub }) => [action, root, sub],
        told: ({ command, flat, deep }) => [command, flat, deep],
      },
    ])(
      "$what: all that is known to be missing is told in the response, and it runs once just that is sent (Bazel, Pants)",
      async (rule) => {
        const tool = farm().tool();
        const all = await unsent(tool, `without ${rule.what}`);
        await all.send(...rule.sent(all));

        const response = await tool.responseTo(all.action);

        const told = rule.told(all);
        expect(missingIn(response)).toEqual(subjects(...told));
        await all.send(...told);
        if (rule.what === "the Action")
          await all.send(all.command, all.root, all.sub, all.flat, all.deep);
        const { result } = await tool.ran(tool.execute(all.action));
        expect(textOf(result.stdoutRaw)).toBe(all.printed);
      },
    );

    test("round by round, a client that knows nothing uploads just what it is told until it runs (Pants)", async () => {
      const tool = farm().tool();
      const all = await unsent(tool, "rounds");
      const byName = new Map(
        [all.action, all.command, all.root, all.sub, all.flat, all.deep].map((digest) => [
          `blobs/${nameOf(digest)}`,
          digest,
        ]),
      );
      let rounds = 0;
      let response = await tool.responseTo(all.action);
      while (response.result === undefined && rounds++ < 6) {
        await all.send(...missingIn(response).flatMap((subject) => byName.get(subject) ?? []));
        response = await tool.responseTo(all.action);
      }

      expect(textOf(response.result?.stdoutRaw)).toBe(all.printed);
      // The Action; Command and root; the files and directories below; the deepest file.
      expect(rounds).toBeLessThanOrEqual(4);
    });

    test("subjects have no instance name, whoever asks (Pants demands three parts)", async () => {
      const tool = farm().tool({ instanceName: "team/subjects" });
      const action = await tool.digestOf(bytesOf("never sent"));

      expect(missingIn(await tool.responseTo(action))).toEqual(subjects(action));
    });

    test("subjects name BLAKE3, which their length does not tell (the API)", async () => {
      const tool = farm().tool({ digestFunction: By.BLAKE3 });
      const action = await tool.digestOf(bytesOf("never sent"));

      expect(missingIn(await tool.responseTo(action))).toEqual([`blobs/blake3/${nameOf(action)}`]);
    });
  });
}
