import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Git, openGit } from "../run-git.ts";
import { type LfsServer, lfsServer, pointerOf } from "./lfs-server.fixture.ts";
import { fetchLfsObjects } from "./lfs-server.ts";
import { parsePointer } from "./pointer.ts";
import { replacePointers } from "./replace-pointers.ts";

const root = mkdtempSync(join(tmpdir(), "grange-lfs-"));
let git: Git;
let server: LfsServer;
beforeAll(async () => {
  git = await openGit(join(root, "git"));
  server = await lfsServer();
});
afterAll(async () => {
  await server.stop();
  await git.stop();
  await rm(root, { recursive: true });
});

const pointer = pointerOf("x".repeat(10));

describe("a pointer", () => {
  test("names its content by SHA-256 and size", () => {
    expect(parsePointer(Buffer.from(pointer))).toEqual(digestOf(Buffer.from("x".repeat(10))));
  });

  test.each([
    ["without its last line feed", pointer.slice(0, -1)],
    ["with carriage returns", pointer.replaceAll("\n", "\r\n")],
    ["of another version", pointer.replace("spec/v1", "spec/v2")],
    ["with another hash", pointer.replace("sha256:", "sha512:")],
    ["with capital letters", pointer.replace(/[a-f]/, (letter) => letter.toUpperCase())],
    ["whose keys are not in order", pointer.replace(/(oid.*\n)(size.*\n)/, "$2$1")],
    ["with a key twice", pointer + "size 10\n"],
    ["with a negative size", pointer.replace("size 10", "size -1")],
    ["with an extension", pointer.replace("oid", `ext-0-foo sha256:${"a".repeat(64)}\noid`)],
    ["longer than 1,023 bytes", `${pointer}zz ${"a".repeat(1_000)}\n`],
    ["that is empty", ""],
  ])("%s is a file", (_, text) => {
    expect(parsePointer(Buffer.from(text))).toBeUndefined();
  });
});

const objectOf = (content: string) => digestOf(Buffer.from(content));

describe("objects", () => {
  test("are fetched through the batch API, verified, and not fetched twice", async () => {
    const store = memoryBlobStore();
    const contents = Array.from({ length: 120 }, (_, n) => `object ${n}`);
    for (const content of contents) server.add(content);
    const [batches, downloads] = [server.batches(), server.downloads()];
    const services = { git, store };

    await fetchLfsObjects(services, server.repository, contents.map(objectOf));
    await fetchLfsObjects(services, server.repository, contents.slice(0, 3).map(objectOf));

    expect(await store.findMissing(contents.map(objectOf))).toEqual([]);
    expect(server.batches() - batches).toBe(3);
    expect(server.downloads() - downloads).toBe(120);
  });

  test("in the store are not given to a repository whose server does not have them", async () => {
    const store = memoryBlobStore();
    const secret = Buffer.from("of another repository");
    await store.put(digestOf(secret), secret);

    await expect(
      fetchLfsObjects({ git, store }, server.repository, [digestOf(secret)]),
    ).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("(404)") });
  });

  test("with bytes that do not match their hash are rejected, and not stored", async () => {
    const store = memoryBlobStore();
    server.add("what was promised");
    server.corrupt("what was promised");

    const wanted = [objectOf("what was promised")];
    await expect(fetchLfsObjects({ git, store }, server.repository, wanted)).rejects.toThrow(
      "has wrong content",
    );
    expect(await store.findMissing(wanted)).toEqual(wanted);
  });

  const wrong = objectOf("anything");
  test.each<[{ status: number; body: unknown }, string, string]>([
    [{ status: 403, body: {} }, "permission_denied", "answered 403"],
    [{ status: 503, body: {} }, "unavailable", "answered 503"],
    [
      { status: 200, body: { objects: 3 } },
      "failed_precondition",
      "an invalid response of the batch API",
    ],
    [{ status: 200, body: { objects: [] } }, "failed_precondition", "without the object"],
    [
      {
        status: 200,
        body: {
          objects: [
            {
              oid: wrong.hash,
              size: wrong.sizeBytes,
              actions: { download: { href: "file:///etc/passwd" } },
            },
          ],
        },
      },
      "failed_precondition",
      "is not an HTTP address",
    ],
  ])("are not had where the server answers %j", async (answer, code, says) => {
    server.answerBatches(answer);
    try {
      await expect(
        fetchLfsObjects({ git, store: memoryBlobStore() }, server.repository, [wrong]),
      ).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
    } finally {
      server.answerBatches(undefined);
    }
  });

  test("are not fetched from a private address that the operator did not allow", async () => {
    const careful = await openGit(join(root, "careful"), []);
    try {
      await expect(
        fetchLfsObjects({ git: careful, store: memoryBlobStore() }, server.repository, [wrong]),
      ).rejects.toMatchObject({ code: "permission_denied" });
    } finally {
      await careful.stop();
    }
  });
});

test("files replace their pointers; a failure names the files and the remedy", async () => {
  const store = memoryBlobStore();
  const fileOf = async (path: string, text: string) => {
    await store.put(digestOf(Buffer.from(text)), Buffer.from(text));
    return { kind: "file", path, digest: digestOf(Buffer.from(text)), executable: false } as const;
  };
  const model = await fileOf("model.bin", server.add("weights"));
  const plain = await fileOf("README", "no pointer");
  const lost = await fileOf("lost.bin", pointerOf("nobody has this"));
  const services = { git, store };

  expect(await replacePointers(services, server.repository, [model, plain])).toEqual([
    { ...model, digest: objectOf("weights") },
    plain,
  ]);
  await expect(replacePointers(services, server.repository, [plain, lost])).rejects.toThrow(
    /^inputs: lost\.bin kept by Git LFS: its LFS server reports .*Object does not exist.*"lfs: false" reads the pointers/,
  );
  await expect(replacePointers(services, "git@host:team/app.git", [lost])).rejects.toThrow(
    "over HTTP only",
  );
});
