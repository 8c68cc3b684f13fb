import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type BatchUpdateBlobsRequestSchema,
  DigestFunction_Value as By,
  ContentAddressableStorage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { refusal } from "./foreign-client.ts";
import { bytesOf, digestBy, functionName, textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const { batchReadBlobs, batchUpdateBlobs, findMissingBlobs } = ContentAddressableStorage.method;
const fresh = (length = 40) => bytesOf(randomBytes(length).toString("hex"));
const functions: readonly By[] = [By.SHA1, By.MD5, By.SHA256, By.SHA384, By.SHA512, By.BLAKE3];

export function digestRules(farm: () => SharedFarm): void {
  const update = (request: MessageInitShape<typeof BatchUpdateBlobsRequestSchema>) =>
    farm().client.unary(batchUpdateBlobs, request);

  describe("Digests", () => {
    test("the empty blob is always there, by every function (Bazel and Buck2 never send it)", async () => {
      for (const digestFunction of functions) {
        const tool = farm().tool({ digestFunction });
        const empty = await tool.digestOf(bytesOf(""));
        expect(await tool.missing(empty)).toEqual([]);
        expect(textOf(await tool.read(empty))).toBe("");
      }
    });

    test("an Action on the empty tree runs, though nobody sent that (Buck2)", async () => {
      const tool = farm().tool();
      const inputRootDigest = await tool.digestOf(bytesOf(""));
      const { result } = await tool.run({ script: "ls -A", action: { inputRootDigest } });

      expect(textOf(result.stdoutRaw)).toBe("");
    });

    test.each(
      functions.map((digestFunction) => ({ digestFunction, name: functionName(digestFunction) })),
    )(
      "$name: an action runs, and its outputs and their Tree are named by it (Buck2 has BLAKE3, Siso SHA-256, others SHA-1)",
      async ({ digestFunction }) => {
        const tool = farm().tool({ digestFunction });
        const { result } = await tool.run({
          script: "cat f; echo made > o; mkdir d; echo x > d/x",
          inputs: { f: "input" },
          command: { outputPaths: ["o", "d"] },
        });

        expect(textOf(result.stdoutRaw)).toBe("input");
        const [made] = result.outputFiles;
        expect(made?.digest).toEqual(await digestBy(digestFunction, bytesOf("made\n")));
        const tree = await tool.read(result.outputDirectories[0]?.treeDigest);
        expect(await digestBy(digestFunction, tree ?? bytesOf(""))).toEqual(
          result.outputDirectories[0]?.treeDigest,
        );
      },
    );

    test("without a digest_function the length tells it (Bazel 4 to 6 send none)", async () => {
      for (const by of [By.SHA1, By.MD5, By.SHA256, By.SHA384, By.SHA512]) {
        const data = fresh();
        const digest = await digestBy(by, data);
        const { responses } = await update({ requests: [{ digest, data }] });
        expect(responses[0]?.status?.code ?? 0).toBe(Code.OK);
      }
    });

    test("BLAKE3 and SHA-256 of the same bytes are two names, both of 64 digits (Buck2 beside Bazel)", async () => {
      const data = fresh();
      const digest = await digestBy(By.BLAKE3, data);
      await farm().tool({ digestFunction: By.BLAKE3 }).put(data);

      expect(await farm().tool({ digestFunction: By.BLAKE3 }).missing(digest)).toEqual([]);
      expect(await farm().tool({ digestFunction: By.SHA256 }).missing(digest)).toEqual([digest]);
    });

    test("a hash in upper case is refused: there is one name for a blob (the API)", async () => {
      const tool = farm().tool();
      const { hash, sizeBytes } = await tool.put(fresh());

      const asked = tool.client.unary(findMissingBlobs, {
        blobDigests: [{ hash: hash.toUpperCase(), sizeBytes }],
      });

      expect(await refusal(asked)).toMatchObject({ code: Code.INVALID_ARGUMENT });
    });

    test("hashes in results are in lower case (the API)", async () => {
      const { result } = await farm()
        .tool()
        .run({ script: "echo o > o", command: { outputPaths: ["o"] } });

      expect(result.outputFiles[0]?.digest?.hash).toMatch(/^[0-9a-f]{64}$/);
    });

    test("a size that is not the blob's is refused on the way in, and finds nothing (the API)", async () => {
      const data = fresh();
      const tool = farm().tool();
      const right = await tool.digestOf(data);
      const wrong = { hash: right.hash, sizeBytes: right.sizeBytes + 1n };

      const { responses } = await update({ requests: [{ digest: wrong, data }] });

      expect(responses[0]?.status?.code).toBe(Code.INVALID_ARGUMENT);
      expect(await tool.missing(right)).toEqual([right]);
      await tool.put(data);
      const read = await tool.client.unary(batchReadBlobs, { digests: [wrong] });
      expect(read.responses[0]?.status?.code).toBe(Code.NOT_FOUND);
    });
  });
}
