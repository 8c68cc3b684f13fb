import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { defaultProject } from "#core/default-project.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { digestOf } from "../digest-of.ts";
import { namespaceOf } from "../namespaces/namespace.ts";
import { projectBlobsIn } from "../namespaces/project-blobs.fixture.ts";
import { anyMayBegin } from "../namespaces/project-blobs.ts";
import { diskLayout } from "./disk-layout.ts";
import { openNamespacedEviction } from "./namespaced-eviction.ts";

const root = await mkdtemp(join(tmpdir(), "grange-store-eviction-"));
afterAll(() => rm(root, { recursive: true }));

async function aStore() {
  const directory = await mkdtemp(join(root, "store-"));
  const stores = await projectBlobsIn(directory);
  const pathOf = (project: string, digest: Digest) =>
    diskLayout(join(directory, namespaceOf(project))).path(digest);
  const put = async (project: string, text: string) => {
    const digest = digestOf(Buffer.from(text));
    await stores.of(project, anyMayBegin).blobs.put(digest, Buffer.from(text));
    const dayAgo = new Date(Date.now() - 24 * 60 * 60_000);
    await utimes(pathOf(project, digest), dayAgo, new Date("2000-01-01"));
    return digest;
  };
  return { directory, stores, pathOf, put, eviction: await openNamespacedEviction(directory) };
}

test("all projects' blobs are listed, those of projects that came later, too, and each is removed alone", async () => {
  const { eviction, put, directory } = await aStore();
  const same = await put(defaultProject, "same");
  await put("a", "same");
  const other = await put("b", "other");
  // Not a project: a file that a file manager left.
  await writeFile(join(directory, "projects", ".DS_Store"), "");

  const listed: string[] = [];
  for await (const { namespace, digest } of eviction.list()) {
    if (digest.sizeBytes > 0) listed.push(`${namespace} ${digestKey(digest)}`);
  }
  const isGone = await eviction.removeUnused(namespaceOf("a"), same, new Date());

  expect(listed.toSorted()).toEqual(
    [
      `${namespaceOf(defaultProject)} ${digestKey(same)}`,
      `${namespaceOf("a")} ${digestKey(same)}`,
      `${namespaceOf("b")} ${digestKey(other)}`,
    ].toSorted(),
  );
  expect(isGone).toBe(true);
  expect(await eviction.look(namespaceOf("a"), same)).toBeUndefined();
  expect(await eviction.look(namespaceOf(defaultProject), same)).toMatchObject({ digest: same });
});

test("of a project without blobs there is nothing to remove, and nothing is made", async () => {
  const { eviction, directory } = await aStore();
  const digest = digestOf(Buffer.from("x"));

  expect(await eviction.look(namespaceOf("none"), digest)).toBeUndefined();
  expect(await eviction.removeUnused(namespaceOf("none"), digest, new Date())).toBe(false);
  await expect(readdir(join(directory, "projects"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("what a process that died was removing is put back, in every project", async () => {
  const { eviction, put, pathOf, directory, stores } = await aStore();
  const digest = await put("a", "leaving");
  const { leavingPath } = diskLayout(join(directory, namespaceOf("a")));
  await mkdir(dirname(leavingPath(digest)), { recursive: true });
  await rename(pathOf("a", digest), leavingPath(digest));

  await eviction.putBack();

  expect(await eviction.look(namespaceOf("a"), digest)).toBeDefined();
  expect(await stores.of("a", anyMayBegin).blobs.get(digest)).toEqual(Buffer.from("leaving"));
});
