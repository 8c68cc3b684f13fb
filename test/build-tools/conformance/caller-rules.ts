import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { InvocationActions, InvocationDetail } from "#api/invocation.ts";
import {
  ActionCache,
  Capabilities,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import { closedProject, type SharedFarm } from "./shared-farm.ts";

export function callerRules(farm: () => SharedFarm): void {
  /** The farm writes it with others a quarter of a second later. */
  const theInvocation = async (id: string, project = "default") => {
    const path = `/invocations/${id}?project=${encodeURIComponent(project)}`;
    return InvocationDetail.parse(await vi.waitFor(() => farm().get(path), { timeout: 30_000 }));
  };

  describe("RequestMetadata", () => {
    test("what a tool says of an action is kept with it (Bazel, recc: who asked, and for which target)", async () => {
      const invocation = randomUUID();
      const tool = farm().tool({
        said: {
          toolDetails: { toolName: "bazel", toolVersion: "7.1.0" },
          toolInvocationId: invocation,
          correlatedInvocationsId: "all of the nightly",
          actionId: "an id",
          actionMnemonic: "CppCompile",
          targetId: "//app:main",
          configurationId: "k8-opt",
        },
      });
      const action = await tool.putAction({ script: "exit 3" });
      await tool.ran(tool.execute(action));

      const detail = await theInvocation(invocation);
      const page = await farm().get(`/invocations/${invocation}/actions`);
      const { actions } = InvocationActions.parse(page);
      expect(actions).toMatchObject([
        {
          actionDigest: nameOf(action),
          target: "//app:main",
          mnemonic: "CppCompile",
          configuration: "k8-opt",
          state: "failed",
          exitCode: 3,
          joined: false,
        },
      ]);
      expect(detail.tool).toEqual({ name: "bazel", version: "7.1.0" });
      expect(detail.correlatedId).toBe("all of the nightly");
      expect(detail.principal).toBe("anyone");
    });

    test("without any, all is served (small clients; trexe)", async () => {
      const { result } = await farm().tool().run({ script: "echo ran" });

      expect(textOf(result.stdoutRaw)).toBe("ran\n");
    });

    test.each([
      { what: "what cannot be decoded", bytes: Buffer.from([0xff, 0xff, 0xff, 0x07]) },
      { what: "nothing in it", bytes: Buffer.alloc(0) },
      { what: "no text in it", bytes: Buffer.from([0x12, 0x02, 0xc3, 0x28]) },
      { what: "very much in it", bytes: longMetadata() },
    ])("with $what, all is served (no client's build fails for a header)", async ({ bytes }) => {
      const tool = farm().tool();
      const header = "build.bazel.remote.execution.v2.requestmetadata-bin";
      const actionDigest = await tool.putAction({ script: "echo ran" });

      const said = { [header]: bytes };
      const operations = tool.client.stream(Execution.method.execute, { actionDigest }, said);
      const { result } = await tool.ran(operations);

      expect(textOf(result.stdoutRaw)).toBe("ran\n");
    });
  });

  describe("Who asks", () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

    test("a wrong token is UNAUTHENTICATED, also where anyone may read (Bazel says so and stops)", async () => {
      const { client } = farm();
      const headers = bearer("grange_wrong");
      const digest = await farm().tool().put(bytesOf("for all to read"));
      const action = await farm().tool().putAction({ script: "true" });

      const refused = await Promise.all(
        [
          client.unary(Capabilities.method.getCapabilities, {}, headers),
          client.unary(
            ContentAddressableStorage.method.findMissingBlobs,
            { blobDigests: [digest] },
            headers,
          ),
          client.unary(ActionCache.method.getActionResult, { actionDigest: action }, headers),
          client
            .stream(ByteStream.method.read, { resourceName: `blobs/${nameOf(digest)}` }, headers)
            .rest(),
          farm().tool({ token: "grange_wrong" }).execute(action).rest(),
        ].map(refusal),
      );

      expect(refused.map(({ code }) => code)).toEqual(refused.map(() => Code.UNAUTHENTICATED));
    });

    test("without the grant, Execute is PERMISSION_DENIED and says which (Bazel shows the sentence)", async () => {
      for (const options of [{}, { token: farm().readerToken }]) {
        const tool = farm().tool({ ...options, instanceName: closedProject });
        const action = await farm().tool().putAction({ script: "true" });

        const refused = await refusal(tool.execute(action).rest());

        expect(refused).toMatchObject({ code: Code.PERMISSION_DENIED });
        expect(refused.details).toContain("execute");
      }
    });

    test("without the grant, UpdateActionResult is PERMISSION_DENIED, and nothing is written (Bazel warns and goes on)", async () => {
      const tool = farm().tool({ instanceName: closedProject });
      const actionDigest = await farm().tool().putAction({ script: "true" });

      const written = tool.client.unary(ActionCache.method.updateActionResult, {
        ...tool.where,
        actionDigest,
        actionResult: { stdoutRaw: bytesOf("false") },
      });

      expect(await refusal(written)).toMatchObject({ code: Code.PERMISSION_DENIED });
      expect(await refusal(tool.cached(actionDigest))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("with the grant it runs, and is its own (Bazel --remote_header)", async () => {
      const invocation = randomUUID();
      const tool = farm().tool({
        token: farm().token,
        instanceName: closedProject,
        said: { toolInvocationId: invocation },
      });

      const { result } = await tool.run({ script: "echo ran" });

      expect(textOf(result.stdoutRaw)).toBe("ran\n");
      expect(await theInvocation(invocation, closedProject)).toMatchObject({
        project: closedProject,
        principal: "root",
      });
    });

    test("a token as the password of Basic authentication is as good (Bazel reads ~/.netrc)", async () => {
      const basic = Buffer.from(`me:${farm().token}`).toString("base64");
      const answer = await farm().client.unary(
        Capabilities.method.getCapabilities,
        { instanceName: closedProject },
        { authorization: `Basic ${basic}` },
      );

      const may = answer.cacheCapabilities?.actionCacheUpdateCapabilities?.updateEnabled;
      expect(may).toBe(true);
    });

    test("nobody cancels what is another's without the grant (one farm, many teams)", async () => {
      const tool = farm().tool({ token: farm().token, instanceName: closedProject });
      const operations = tool.execute(await tool.putAction({ script: "sleep 0.4; echo over" }));
      const { name } = await operations.next();

      const cancelled = farm().client.unary(Operations.method.cancelOperation, { name });

      expect(await refusal(cancelled)).toMatchObject({ code: Code.PERMISSION_DENIED });
      expect(textOf((await tool.ran(operations)).result.stdoutRaw)).toBe("over\n");
    });

    test.each([
      "/lead",
      "trail/",
      "a//b",
      "with space",
      "blobs",
      "a/uploads/b",
      "..",
      "x".repeat(200),
    ])(
      "the instance name %j can be none: INVALID_ARGUMENT (a typing error makes no project)",
      async (instanceName) => {
        const action = await farm().tool().putAction({ script: "true" });

        const call = farm().tool({ instanceName }).execute(action).rest();

        expect(await refusal(call)).toMatchObject({ code: Code.INVALID_ARGUMENT });
      },
    );
  });
}

/** Longer than any tool's metadata, and still allowed in a header. */
function longMetadata(): Buffer {
  const text = Buffer.from("x".repeat(3_000));
  return Buffer.concat([Buffer.from([0x32, 0xb8, 0x17]), text]);
}
