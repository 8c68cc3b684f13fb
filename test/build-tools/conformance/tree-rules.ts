import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  ContentAddressableStorage,
  DirectorySchema,
  Command_OutputDirectoryFormat as Format,
  type OutputDirectory,
  type Tree,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import type { BuildTool } from "./build-tool.ts";
import { bytesOf, nameOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

const script =
  "mkdir -p d/b/deep d/a d/same/deep d/empty; echo x > d/b/deep/x; echo x > d/same/deep/x;" +
  " echo y > d/y; echo z > d/Z; chmod +x d/Z; ln -s y d/link; ln -s ../y d/a/up";

export function treeRules(farm: () => SharedFarm): void {
  const made = async (outputDirectoryFormat: Format = Format.TREE_ONLY) => {
    const tool = farm().tool();
    const { result } = await tool.run({
      script,
      command: { outputPaths: ["d"], outputDirectoryFormat },
    });
    const [directory] = result.outputDirectories;
    const bytes = (await tool.read(directory?.treeDigest)) ?? bytesOf("");
    return { tool, directory, bytes, tree: fromBinary(TreeSchema, bytes) };
  };

  describe("Output directories", () => {
    test("a Tree's bytes are canonical (Bazel encodes its Directories again, and crashes when they differ)", async () => {
      const { tool, directory, bytes, tree } = await made();

      // No default values, no unknown fields: a decoded tree is encoded to the same bytes.
      expect(Buffer.from(toBinary(TreeSchema, tree)).equals(bytes)).toBe(true);
      expect(await tool.digestOf(bytes)).toEqual(directory?.treeDigest);
      for (const each of all(tree)) {
        for (const nodes of [each.files, each.directories, each.symlinks]) {
          const names = nodes.map(({ name }) => name);
          expect(names).toEqual([...names].sort());
          expect(new Set(names).size).toBe(names.length);
        }
      }
    });

    test("a Tree has each of its directories, by their digests, and each once (Bazel, Buck2)", async () => {
      const { tool, tree } = await made();

      const digests = await digestsOf(tree, tool);
      const named = all(tree).flatMap(({ directories }) =>
        directories.map(({ digest }) => digest && nameOf(digest)),
      );
      expect(new Set(digests.slice(1))).toEqual(new Set(named));
      // `b` and `same` have the same content: one directory.
      expect(new Set(digests).size).toBe(digests.length);
      expect(tree.root?.directories.map(({ name }) => name)).toEqual(["a", "b", "empty", "same"]);
      expect(tree.root?.files).toMatchObject([
        { name: "Z", isExecutable: true },
        { name: "y", isExecutable: false },
      ]);
      expect(tree.root?.symlinks).toMatchObject([{ name: "link", target: "y" }]);
    });

    test("its directories are topologically sorted, as the result says (clients that read it as it comes)", async () => {
      const { tool, directory, tree } = await made();

      expect(directory?.isTopologicallySorted).toBe(true);
      const order = await digestsOf(tree, tool);
      all(tree).forEach((each, at) => {
        for (const { digest } of each.directories) {
          expect(order.indexOf(digest ? nameOf(digest) : "")).toBeGreaterThan(at);
        }
      });
    });

    test("all its files are in the store (Bazel reads them one by one)", async () => {
      const { tool, tree } = await made();

      const files = all(tree).flatMap((each) => each.files.flatMap(({ digest }) => digest ?? []));
      expect(files).toHaveLength(3);
      expect(await tool.missing(...files)).toEqual([]);
    });

    test("an empty one is an empty directory, not a missing output (Bazel's tree artifacts)", async () => {
      const tool = farm().tool();
      const { result } = await tool.run({
        script: "mkdir -p d",
        command: { outputDirectories: ["d"] },
      });

      const tree = fromBinary(
        TreeSchema,
        (await tool.read(result.outputDirectories[0]?.treeDigest)) ?? bytesOf(""),
      );
      expect(tree.root).toMatchObject({ files: [], directories: [], symlinks: [] });
    });

    test("by default there is no root_directory_digest (clients that read it take it for uploaded)", async () => {
      const { directory } = await made();

      expect(directory?.rootDirectoryDigest).toBeUndefined();
      expect(directory?.treeDigest).toBeDefined();
    });

    test.each([{ format: "DIRECTORY_ONLY" }, { format: "TREE_AND_DIRECTORY" }] as const)(
      "with $format the root's digest leads to Directories in the store (Siso, remote-apis-sdks)",
      async ({ format }) => {
        const { tool, directory } = await made(Format[format]);

        const rootDigest = existing(directory);
        const pages = await tool.client
          .stream(ContentAddressableStorage.method.getTree, { rootDigest })
          .rest();
        const names = pages.flatMap(({ directories }) =>
          directories.flatMap((each) => each.directories.map(({ name }) => name)),
        );
        expect(names.sort()).toEqual(["a", "b", "deep", "empty", "same"]);
        expect(await tool.missing(rootDigest)).toEqual([]);
      },
    );

    test("a symlink that leads out of it fails the action, in the response (the API: no escaping ones)", async () => {
      const { response } = await farm()
        .tool()
        .run({
          script: "mkdir d; ln -s ../../../../etc/passwd d/l",
          command: { outputPaths: ["d"] },
        });

      expect(response.status?.code).toBe(Code.FAILED_PRECONDITION);
      expect(response.status?.message).toContain("l");
    });
  });
}

const all = ({ root, children }: Tree) => [...(root ? [root] : []), ...children];

function digestsOf(tree: Tree, { digestOf }: Pick<BuildTool, "digestOf">): Promise<string[]> {
  return Promise.all(
    all(tree).map(async (each) => nameOf(await digestOf(toBinary(DirectorySchema, each)))),
  );
}

function existing(directory: OutputDirectory | undefined) {
  if (directory?.rootDirectoryDigest) return directory.rootDirectoryDigest;
  throw new Error("the output directory names no root");
}
