import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  type ActionResult,
  TreeSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { type ActionSpec, file, link } from "./build-tool.ts";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Returns the paths of a result, by the field that contains them. */
function pathsIn(result: ActionResult) {
  const paths = (some: readonly { readonly path: string }[]) => some.map(({ path }) => path).sort();
  return {
    files: paths(result.outputFiles),
    directories: paths(result.outputDirectories),
    symlinks: paths(result.outputSymlinks),
  };
}

export function symlinkAndInputRules(farm: () => SharedFarm): void {
  const resultOf = async (spec: ActionSpec) => (await farm().tool().run(spec)).result;
  /** Returns the symlinks in the first output directory of a result. */
  const linksIn = async ({ outputDirectories: [directory] }: ActionResult) => {
    const bytes = await farm().tool().read(directory?.treeDigest);
    const { root, children } = fromBinary(TreeSchema, bytes ?? new Uint8Array());
    return [...(root ? [root] : []), ...children].flatMap(({ symlinks }) => symlinks);
  };

  describe("Symlinks among outputs", () => {
    const make = "echo > f; mkdir d; ln -s f toFile; ln -s d toDirectory";

    test("with output_paths they are in output_symlinks (Buck2, Pants)", async () => {
      const result = await resultOf({
        script: make,
        command: { outputPaths: ["toDirectory", "toFile"] },
      });

      expect(result.outputSymlinks).toMatchObject([
        { path: "toDirectory", target: "d" },
        { path: "toFile", target: "f" },
      ]);
    });

    test("with the older lists they are in the older fields and the newer one (Bazel up to 6.2; 6.3 on)", async () => {
      const result = await resultOf({
        script: make.replace("ln -s d", "rmdir toDirectory; ln -s d"),
        command: { outputFiles: ["toFile"], outputDirectories: ["toDirectory"] },
      });

      const toFile = { path: "toFile", target: "f" };
      const toDirectory = { path: "toDirectory", target: "d" };
      expect(result.outputFileSymlinks).toMatchObject([toFile]);
      expect(result.outputDirectorySymlinks).toMatchObject([toDirectory]);
      expect(result.outputSymlinks).toHaveLength(2);
      expect(result.outputSymlinks).toEqual(
        expect.arrayContaining([
          expect.objectContaining(toFile),
          expect.objectContaining(toDirectory),
        ]),
      );
    });

    test("they are the same again from the cache (Bazel up to 6.2)", async () => {
      const tool = farm().tool();
      const action = await tool.putAction({
        script: "echo > f; ln -s f toFile",
        command: { outputFiles: ["toFile"] },
      });
      const { result } = await tool.ran(tool.execute(action));

      const cached = await tool.cached(action);

      expect(cached.outputFileSymlinks).toEqual(result.outputFileSymlinks);
      expect(cached.outputSymlinks).toEqual(result.outputSymlinks);
    });

    test("one that dangles is kept as it is (Bazel's unresolved symlinks, Pants)", async () => {
      const result = await resultOf({
        script: "ln -s nowhere/to/be/seen l",
        command: { outputPaths: ["l"] },
      });

      expect(result.outputSymlinks).toMatchObject([{ path: "l", target: "nowhere/to/be/seen" }]);
    });

    test("an absolute one is kept as Capabilities say, also in a tree (recc; venv and toolchains)", async () => {
      const result = await resultOf({
        script: "ln -s /usr/bin/env l; mkdir -p venv/bin; ln -s /usr/bin/env venv/bin/env",
        command: { outputPaths: ["l", "venv"] },
      });

      expect(result.outputSymlinks).toMatchObject([{ path: "l", target: "/usr/bin/env" }]);
      expect(await linksIn(result)).toMatchObject([{ name: "env", target: "/usr/bin/env" }]);
    });

    test("one that leaves its output directory, but not the root, is kept (pnpm, Pants' venvs)", async () => {
      const result = await resultOf({
        script: "mkdir -p d/bin store; echo > store/tool; ln -s ../../store/tool d/bin/tool",
        command: { outputPaths: ["d"] },
      });

      expect(await linksIn(result)).toMatchObject([{ name: "tool", target: "../../store/tool" }]);
    });

    test("a name that is not UTF-8 fails the action, and the error names it", async () => {
      const { response } = await farm()
        .tool()
        .run({
          script: "mkdir d; touch \"d/$(printf 'caf\\351')\"",
          command: { outputPaths: ["d"] },
        });

      expect(response.status?.code).toBe(Code.FAILED_PRECONDITION);
      expect(response.status?.message).toMatch(/d\/caf.* not valid UTF-8/);
    });

    test("one that climbs out of the root is refused, and the other outputs are there", async () => {
      const { response, result } = await farm()
        .tool()
        .run({ script: "ln -s ../../etc l; echo > o", command: { outputPaths: ["l", "o"] } });

      expect(response.status?.code).toBe(Code.FAILED_PRECONDITION);
      expect(response.status?.message).toContain("leads out");
      expect(pathsIn(result)).toEqual({ files: ["o"], directories: [], symlinks: [] });
    });
  });

  describe("Inputs", () => {
    test("files, executables, symlinks and empty directories are as their tree says (all clients)", async () => {
      const { result } = await farm()
        .tool()
        .run({
          script:
            "cat f; ./run; readlink l; cat l; [ -d empty ] && ls empty; [ -x f ] || echo plain",
          inputs: {
            f: "f\n",
            run: file({ text: "#!/bin/sh\necho ran\n", isExecutable: true }),
            l: link("f"),
            empty: {},
          },
        });

      expect(textOf(result.stdoutRaw)).toBe("f\nran\nf\nf\nplain\n");
    });

    test("an absolute symlink leads where it does on the worker (Bazel's rules for toolchains)", async () => {
      const result = await resultOf({
        script: "readlink l; l/env echo ran; cat secret 2>/dev/null || echo hidden",
        inputs: { l: link("/usr/bin"), secret: link("/root/.ssh/id_rsa") },
      });

      expect(textOf(result.stdoutRaw)).toBe("/usr/bin\nran\nhidden\n");
    });

    test("a symlink that dangles is made all the same (Pants)", async () => {
      const result = await resultOf({ script: "readlink l", inputs: { l: link("later/made") } });

      expect(textOf(result.stdoutRaw)).toBe("later/made\n");
    });

    test("node properties of inputs are set (moon, BuildBox)", async () => {
      const mtime = { seconds: 1_500_000_000n, nanos: 0 };
      const result = await resultOf({
        script: "stat -c '%a %Y' f",
        inputs: { f: file({ text: "f", nodeProperties: { mtime, unixMode: 0o600 } }) },
      });

      expect(textOf(result.stdoutRaw)).toBe("600 1500000000\n");
    });

    test("names that differ in case only are two (Bazel on Linux)", async () => {
      const result = await resultOf({ script: "cat a A", inputs: { a: "a", A: "A" } });

      expect(textOf(result.stdoutRaw)).toBe("aA");
    });

    test("one action cannot change what another one reads (all clients)", async () => {
      const inputs = { f: "as uploaded", d: { g: "as uploaded" } };
      await resultOf({ script: "echo spoilt > f; echo spoilt > d/g; touch d/h", inputs });

      const result = await resultOf({ script: "cat f d/*", inputs });

      expect(textOf(result.stdoutRaw)).toBe("as uploadedas uploaded");
    });
  });
}
