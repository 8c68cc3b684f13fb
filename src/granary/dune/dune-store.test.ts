import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DuneDigest, fileDigest } from "./dune-digest.ts";
import { DuneScheme, duneStoreIn } from "./dune-store.ts";

const key = DuneDigest.parse("abbb2ff0d1d3d587ddfb94a69e0fd70e");
const bytes = Buffer.from("let x = 1\n");
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-dune-store-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("a file is named by its content and by whether it is executable", () => {
  // The name that dune 2.9.3 itself gave to a `.gitignore`.
  const ignored = fileDigest(Buffer.from("_build/\n"), false);

  expect(ignored).toBe("08f656381f9efb9c2da435922eade4a2");
  expect(fileDigest(bytes, true)).not.toBe(fileDigest(bytes, false));
});

describe.each(DuneScheme)("dune's store, scheme %s:", (scheme) => {
  const path = scheme === "v4" ? "default/lib/a.ml" : "a.ml";

  test("files are written to dune's paths in dune's format", async () => {
    const store = duneStoreIn(directory, scheme);
    const [plain, program] = [fileDigest(bytes, false), fileDigest(bytes, true)];

    await store.putFile(plain, { bytes, executable: false });
    await store.putFile(program, { bytes, executable: true });
    await store.putRule(key, [
      { path, digest: plain },
      { path: `${path}x`, digest: program },
    ]);

    const file = join(directory, "files/v4", plain.slice(0, 2), plain);
    expect((await stat(file)).mode & 0o777).toBe(0o444);
    expect((await stat(store.filePath(program))).mode & 0o777).toBe(0o555);
    const text = await readFile(join(directory, "meta", scheme, "ab", key), "utf8");
    const [first, second] = [path, `${path}x`].map((name) => `${name.length}:${name}`);
    expect(text).toBe(`((8:metadata)(5:files(${first}32:${plain})(${second}32:${program})))`);
    expect([...(await store.keys())]).toEqual([key]);
    expect(await store.rule(key)).toEqual([
      { path, digest: plain },
      { path: `${path}x`, digest: program },
    ]);
    expect(await readdir(join(directory, "grange-temp"))).toEqual([]);
  });

  test("rejects bytes that do not match the name, and leaves no file", async () => {
    const store = duneStoreIn(directory, scheme);

    await expect(store.putFile(key, { bytes, executable: false })).rejects.toMatchObject({
      code: "data_loss",
    });
    await expect(
      store.putFile(fileDigest(bytes, true), { bytes, executable: false }),
    ).rejects.toMatchObject({ code: "data_loss" });
    expect(await readdir(directory)).toEqual([]);
  });

  test("a corrupt file counts as absent", async () => {
    const store = duneStoreIn(directory, scheme);
    const digest = fileDigest(bytes, false);
    await store.putFile(digest, { bytes, executable: false });

    await rm(store.filePath(digest));
    await writeFile(store.filePath(digest), "let x = 2\n");

    expect(await store.file(digest)).toBeUndefined();
  });

  test.each(["", "(", "((5:files(1:a1:b)))", "((5:files(4:../a32:".concat(key, ")))"), "3:abc"])(
    "a description that reads %j is none",
    async (text) => {
      const store = duneStoreIn(directory, scheme);
      await store.putRule(key, []);
      await rm(join(directory, "meta", scheme, "ab", key));
      await writeFile(join(directory, "meta", scheme, "ab", key), text);

      expect(await store.rule(key)).toBeUndefined();
    },
  );

  test("two writers of the same file both succeed", async () => {
    const store = duneStoreIn(directory, scheme);
    const digest = fileDigest(bytes, false);
    const file = { bytes, executable: false };

    await Promise.all(Array.from({ length: 20 }, () => store.putFile(digest, file)));

    expect(await store.file(digest)).toMatchObject({ executable: false });
  });
});

test("an empty store has nothing", async () => {
  const store = duneStoreIn(join(directory, "absent"), "v4");

  expect([...(await store.keys())]).toEqual([]);
  expect(await store.rule(key)).toBeUndefined();
  expect(await store.hasFile(key)).toBe(false);
});
