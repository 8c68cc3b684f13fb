import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal } from "#access/principal.ts";
import { flattenDirectoryTree } from "#cas/flatten-directory-tree.ts";
import { type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { type Answer, farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { jobDetail } from "./job-detail.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
const elsewhere = mkdtempSync(join(tmpdir(), "grange-submodules-"));
let library: TestRepository;
let inner: TestRepository;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  inner = testRepository(elsewhere);
  inner.write({ "deep.c": "deep" });
  inner.commit("Begin");
  library = testRepository(elsewhere);
  library.write({ "src/a.c": "int a;\n", "docs/a.md": "A\n" });
  link(library, "inner", inner.path, inner);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
  await rm(elsewhere, { recursive: true });
});

/** Adds a submodule of another repository at its present commit. */
function link(outer: TestRepository, path: string, url: string, to: TestRepository): void {
  outer.write({ ".gitmodules": `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n` });
  outer.git("add", "--all");
  const sha = to.git("rev-parse", "HEAD");
  outer.git("update-index", "--add", "--cacheinfo", `160000,${sha},${path}`);
  outer.git("commit", "--quiet", "--message=Link");
}

/** Commits definitions together with the index; the working tree has no submodules. */
function define(job: string): void {
  farm.repository.write({ ".grange/jobs.yml": `version: 1\njobs:\n${job}\n# ${randomUUID()}` });
  farm.repository.git("add", ".grange");
  farm.repository.git("commit", "--quiet", "--message=Define");
}

/** Returns the paths of a job's input tree. */
async function inputsOf(job: string, by?: Principal): Promise<string[]> {
  define(job);
  await farm.submit({}, by);
  const paths: string[] = [];
  await farm.work(async (_script, _root, root): Promise<Answer> => {
    if (root !== undefined)
      paths.push(...(await flattenDirectoryTree(farm.store, root)).map(({ path }) => path));
    return {};
  });
  return paths.filter((path) => !path.startsWith(".grange/"));
}

const jobOf = (more: string) => `  test: { commands: "true # ${randomUUID()}"${more} }`;

describe("submodules", () => {
  beforeAll(() => {
    farm.repository.write({ "main.c": "main" });
    farm.repository.git("add", "main.c");
    link(farm.repository, "vendor/lib", library.path, library);
  });

  test("are at their paths, with their own submodules", async () => {
    expect(await inputsOf(jobOf(""))).toEqual([
      ".gitmodules",
      "main.c",
      "vendor/lib/.gitmodules",
      "vendor/lib/docs/a.md",
      "vendor/lib/inner/deep.c",
      "vendor/lib/src/a.c",
    ]);
  });

  test.each([
    {
      more: ", inputs: ['**/*.c']",
      paths: ["main.c", "vendor/lib/inner/deep.c", "vendor/lib/src/a.c"],
    },
    { more: ", inputs: [vendor/lib/src/a.c]", paths: ["vendor/lib/src/a.c"] },
    { more: ", inputs: [main.c]", paths: ["main.c"] },
    { more: ", submodules: false", paths: [".gitmodules", "main.c"] },
  ])("are read as the inputs say: $more", async ({ more, paths }) => {
    expect(await inputsOf(jobOf(more))).toEqual(paths);
  });

  test("are named in the definition by their commits", async () => {
    define(jobOf(""));
    const { id } = await farm.submit();
    await farm.work();

    expect((await jobDetail(db, id, "test"))?.definition).toMatchObject({
      sources: [
        { at: "vendor/lib", commit: library.git("rev-parse", "HEAD"), submodule: true },
        { at: "vendor/lib/inner", commit: inner.git("rev-parse", "HEAD"), submodule: true },
      ],
    });
  });

  test("that the submitter may not read are rejected, unless the job does not read them", async () => {
    const { repository } = (await farm.submit()).graph;
    await farm.work();
    const bob: Principal = {
      name: "bob",
      grants: [{ verb: "submit", repository, branch: "*", priorityCap: null, top: false }],
    };

    await expect(inputsOf(jobOf(""), bob)).rejects.toThrow(
      /jobs\.yml:3:\d+: job "test" cannot read the submodule vendor\/lib \(.*\): .*"submodules: false"/,
    );
    expect(await inputsOf(jobOf(", inputs: [main.c]"), bob)).toEqual(["main.c"]);
  });

  test("whose path does not exist are a mistake in the inputs", async () => {
    define(jobOf(", inputs: [vendor/lib/none.c]"));
    const { id } = await farm.submit();
    await farm.work();

    expect((await jobDetail(db, id, "test"))?.job).toMatchObject({
      state: "failed",
      reason: expect.stringContaining('"vendor/lib/none.c" is not in the submodule vendor/lib'),
    });
  });

  test("with relative addresses, resolved at each depth against the repository around them, and their LFS files, are read", async () => {
    const deepest = testRepository(elsewhere);
    const content = `deep weights ${randomUUID()}`;
    const hash = createHash("sha256").update(content).digest("hex");
    deepest.write({
      ".gitattributes": "*.bin filter=lfs -text\n",
      "deep.bin": `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize ${content.length}\n`,
    });
    deepest.git("-c", "filter.lfs.clean=cat", "add", "--all");
    deepest.git("commit", "--quiet", "--message=Begin");
    const objects = join(deepest.path, ".git/lfs/objects", hash.slice(0, 2), hash.slice(2, 4));
    mkdirSync(objects, { recursive: true });
    writeFileSync(join(objects, hash), content);
    const middle = testRepository(elsewhere);
    link(middle, "deeper", `../${basename(deepest.path)}`, deepest);
    const outer = testRepository(elsewhere);
    outer.write({
      ".grange/jobs.yml": `version: 1\njobs:\n${jobOf(", inputs: ['third/**/*.bin']")}\n`,
    });
    link(outer, "third", `../${basename(middle.path)}`, middle);

    const { id } = await farm.submit({ repository: outer.path });
    const files: string[] = [];
    await farm.work(async (_script, _root, root): Promise<Answer> => {
      for (const entry of root === undefined ? [] : await flattenDirectoryTree(farm.store, root))
        if (entry.kind === "file") files.push(`${entry.path} ${entry.digest.hash}`);
      return {};
    });

    expect(files).toEqual([`third/deeper/deep.bin ${hash}`]);
    expect(await farm.states(id)).toEqual({ test: "succeeded" });
  });

  test("without an address, or with a missing commit, are named in an error", async () => {
    const gone = testRepository(elsewhere);
    gone.commit("Begin");
    link(farm.repository, "vendor/gone", gone.path, gone);
    const sha = library.git("rev-parse", "HEAD");
    farm.repository.git("update-index", "--add", "--cacheinfo", `160000,${sha},vendor/lib`);
    await rm(gone.path, { recursive: true });

    const failure: unknown = await inputsOf(jobOf("")).catch((reason: unknown) => reason);

    // The second .gitmodules has replaced the first.
    expect(failure).toMatchObject({
      problems: [
        { message: expect.stringContaining("cannot read the submodule vendor/gone (") },
        {
          message: expect.stringContaining(
            "the submodule vendor/lib: the commit's .gitmodules has no URL",
          ),
        },
      ],
    });
  });
});

test("files of Git LFS are read from the repository's own objects, or as pointers", async () => {
  const content = `weights ${randomUUID()}`;
  const hash = createHash("sha256").update(content).digest("hex");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize ${content.length}\n`;
  farm.repository.write({ ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n" });
  farm.repository.write({ "lfs/model.bin": pointer, "lfs/notes.txt": "plain" });
  farm.repository.git("-c", "filter.lfs.clean=cat", "add", ".gitattributes", "lfs");
  const digestsOf = async (more: string) => {
    define(jobOf(`, inputs: ['lfs/**']${more}`));
    const { id } = await farm.submit();
    const digests: string[] = [];
    await farm.work(async (_script, _root, root): Promise<Answer> => {
      for (const entry of root === undefined ? [] : await flattenDirectoryTree(farm.store, root))
        if (entry.kind === "file") digests.push(entry.digest.hash);
      return {};
    });
    return { digests, job: (await jobDetail(db, id, "test"))?.job };
  };

  expect((await digestsOf("")).job).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(
      /lfs\/model\.bin kept by Git LFS: .*does not have the LFS object/,
    ),
  });
  farm.repository.write({ ".lfsconfig": "[lfs]\n\turl = https://me:secret@lfs.example.org/x\n" });
  farm.repository.git("add", ".lfsconfig");
  expect((await digestsOf("")).job?.reason).toMatch(
    /; its \.lfsconfig names https:\/\/(?:[^:@]*@)?lfs\.example\.org\/x, which the farm does not use/,
  );
  expect((await digestsOf(", lfs: false")).digests).not.toContain(hash);
  const directory = join(
    farm.repository.path,
    ".git/lfs/objects",
    hash.slice(0, 2),
    hash.slice(2, 4),
  );
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, hash), content);
  expect((await digestsOf("")).digests).toContain(hash);
});
