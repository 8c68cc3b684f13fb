import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  ActionCache,
  type ActionResultSchema,
  type Digest,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import type { BuildTool } from "./build-tool.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, nameOf, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

type ResultInit = Omit<MessageInitShape<typeof ActionResultSchema>, "$typeName" | "$unknown">;

export function cacheRules(farm: () => SharedFarm): void {
  const update = (tool: BuildTool, actionDigest: Digest, actionResult: ResultInit) =>
    tool.client.unary(
      ActionCache.method.updateActionResult,
      { ...tool.where, actionDigest, actionResult },
      tool.headers,
    );

  describe("ActionCache", () => {
    test("what nobody knows is NOT_FOUND (all clients then execute)", async () => {
      const tool = farm().tool();
      const unknown = await tool.digestOf(bytesOf("unknown"));

      expect(await refusal(tool.cached(unknown))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("a result that a client wrote comes back as it was (Bazel --remote_upload_local_results)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "made here" });
      const digest = await tool.put(bytesOf("made here"));
      const written = {
        outputFiles: [{ path: "bin/o", digest, isExecutable: true }],
        outputSymlinks: [{ path: "bin/l", target: "o" }],
        stdoutDigest: await tool.put(bytesOf("printed")),
        executionMetadata: { worker: "a developer's machine" },
      };

      await update(tool, action, written);

      const cached = await tool.cached(action);
      expect(cached).toMatchObject(written);
      const { cachedResult } = await tool.responseTo(action);
      expect(cachedResult).toBe(true);
    });

    test("the digest may be that of no Action (moon names JSON)", async () => {
      const tool = farm().tool();
      const opaque = await tool.put(bytesOf('{"task":"app:build"}'));
      const digest = await tool.put(bytesOf("built"));
      const nodeProperties = { mtime: { seconds: 1_700_000_000n, nanos: 5 }, unixMode: 0o644 };

      await update(tool, opaque, {
        outputFiles: [{ path: "dist/app.js", digest, nodeProperties }],
      });

      const cached = await tool.cached(opaque, { inlineStdout: true, inlineStderr: true });
      expect(cached.outputFiles).toMatchObject([{ path: "dist/app.js", digest, nodeProperties }]);
    });

    test("the digest may be that of no blob at all (moon; ccache-like tools)", async () => {
      const tool = farm().tool();
      const nowhere = await tool.digestOf(bytesOf("a key, never uploaded"));

      await update(tool, nowhere, { stdoutRaw: bytesOf("raw") });

      expect(textOf((await tool.cached(nowhere)).stdoutRaw)).toBe("raw");
    });

    test("a result whose blobs were never sent is refused and not kept (Bazel without the bytes would break)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });
      const digest = await tool.digestOf(bytesOf("never sent, only named"));

      const refused = await refusal(update(tool, action, { outputFiles: [{ path: "o", digest }] }));

      expect(refused).toMatchObject({ code: Code.FAILED_PRECONDITION });
      const [details] = refused.metadata.get("grpc-status-details-bin");
      expect(String(details)).toContain(`blobs/${nameOf(digest)}`);
      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("files that are sent inside of a result are stored (clients that inline)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });
      const contents = bytesOf("inside of the result");
      const digest = await tool.digestOf(contents);

      await update(tool, action, { outputFiles: [{ path: "o", digest, contents }] });

      expect(textOf(await tool.read(digest))).toBe("inside of the result");
      expect(textOf((await tool.cached(action)).outputFiles[0]?.contents)).toBe("");
    });

    test("stdout, stderr and files come inside on request only (recc asks, Bazel does not)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });
      const [o, p, out, err] = await Promise.all(
        ["o", "p", "out", "err"].map((text) => tool.put(bytesOf(text))),
      );
      const outputFiles = [
        { path: "o", ...(o && { digest: o }) },
        { path: "p", ...(p && { digest: p }) },
      ];
      const printed = { ...(out && { stdoutDigest: out }), ...(err && { stderrDigest: err }) };
      await update(tool, action, { outputFiles, ...printed });

      const wanted = { inlineStdout: true, inlineStderr: true, inlineOutputFiles: ["p", "absent"] };
      const [asked, unasked] = [await tool.cached(action, wanted), await tool.cached(action)];

      expect([asked.stdoutRaw, asked.stderrRaw].map(textOf)).toEqual(["out", "err"]);
      expect(asked.outputFiles.map(({ contents }) => textOf(contents))).toEqual(["", "p"]);
      expect(asked.stdoutDigest).toEqual(out);
      expect([unasked.stdoutRaw, unasked.stderrRaw].map(textOf)).toEqual(["", ""]);
      expect(unasked.outputFiles.map(({ contents }) => textOf(contents))).toEqual(["", ""]);
    });

    test("what is too large for an answer is not inside, though asked for (gRPC's 4 MiB)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });
      const digest = await tool.put(new Uint8Array(3_900_000));
      await update(tool, action, { stdoutDigest: digest, outputFiles: [{ path: "o", digest }] });

      const cached = await tool.cached(action, { inlineStdout: true, inlineOutputFiles: ["o"] });

      expect(cached.stdoutDigest).toEqual(digest);
      expect(cached.stdoutRaw.length + (cached.outputFiles[0]?.contents.length ?? 0)).toBeLessThan(
        4_000_000,
      );
    });

    test("a failed result that a client writes serves nobody (Bazel executes again when it gets one)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });

      await update(tool, action, { exitCode: 1 }).catch(() => {});

      expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
    });

    test("what a worker made, no client overwrites (a wrong machine among many)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "echo true" });
      await tool.ran(tool.execute(action));

      await update(tool, action, { stdoutRaw: bytesOf("false") });

      expect(textOf((await tool.cached(action)).stdoutRaw)).toBe("true\n");
    });

    test("a result that names no legal digest or path is INVALID_ARGUMENT", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({ script: "true" });
      const digest = await tool.put(bytesOf("x"));

      for (const wrong of [
        { outputFiles: [{ path: "/etc/passwd", digest }] },
        { outputFiles: [{ path: "../up", digest }] },
        { outputFiles: [{ path: "o", digest: { hash: "short", sizeBytes: 1n } }] },
        { outputFiles: [{ path: "o" }] },
      ]) {
        const refused = await refusal(update(tool, action, wrong));
        expect(refused).toMatchObject({ code: Code.INVALID_ARGUMENT });
      }
    });

    test("a result of another instance is another result (one farm, many repositories)", async () => {
      const [one, other] = ["team/e", "team/f"].map((instanceName) =>
        farm().tool({ instanceName }),
      );
      if (one === undefined || other === undefined) throw new Error("there are two");
      const action = await one.putAction({ script: "true" });

      await update(one, action, { stdoutRaw: bytesOf("one's") });

      expect(textOf((await one.cached(action)).stdoutRaw)).toBe("one's");
      expect(await refusal(other.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
    });
  });

  describe("Results whose blobs were lost", () => {
    const made = async () => {
      const tool = farm().tool();
      const mark = String(Math.random());
      const action = await tool.putAction({
        script: `echo ${mark} > o; mkdir d; echo in ${mark} > d/x; yes ${mark} | head -c 20000`,
        command: { outputPaths: ["o", "d"] },
      });
      const { result } = await tool.ran(tool.execute(action));
      const tree = fromBinary(
        TreeSchema,
        (await tool.read(result.outputDirectories[0]?.treeDigest)) ?? bytesOf(""),
      );
      return { tool, action, result, tree };
    };

    test.each<{ what: string; of: (all: Awaited<ReturnType<typeof made>>) => Digest | undefined }>([
      { what: "an output file", of: ({ result }) => result.outputFiles[0]?.digest },
      { what: "a Tree", of: ({ result }) => result.outputDirectories[0]?.treeDigest },
      { what: "a file in a Tree", of: ({ tree }) => tree.root?.files[0]?.digest },
      { what: "standard output", of: ({ result }) => result.stdoutDigest },
    ])(
      "$what: once its loss is met, the result is NOT_FOUND, and an Execute runs again (Bazel without the bytes)",
      async (rule) => {
        const all = await made();
        const { tool, action } = all;
        const digest = rule.of(all) ?? create(TreeSchema).root?.files[0]?.digest;
        if (digest === undefined) throw new Error("there is nothing to lose");
        await farm().lose(digest);
        // The client requests it, and does not receive it.
        expect(await tool.read(digest)).toBeUndefined();

        expect(await refusal(tool.cached(action))).toMatchObject({ code: Code.NOT_FOUND });
        expect(await tool.missing(digest)).toEqual([digest]);
        const again = await tool.ran(tool.execute(action));
        expect(again.response.cachedResult).toBe(false);
        expect(await tool.missing(digest)).toEqual([]);
      },
    );

    test("an input that was lost is told as missing, and runs once it is sent again (Bazel)", async () => {
      const tool = farm().tool();
      const text = `input ${Math.random()}`;
      const action = await tool.putAction({ script: "cat f", inputs: { f: text } });
      const digest = await tool.digestOf(bytesOf(text));
      await farm().lose(digest);
      await tool.read(digest);

      const { status } = await tool.responseTo(action);

      expect(status?.code).toBe(Code.FAILED_PRECONDITION);
      await tool.put(bytesOf(text));
      const { result } = await tool.ran(tool.execute(action));
      expect(textOf(result.stdoutRaw)).toBe(text);
    });
  });
}
