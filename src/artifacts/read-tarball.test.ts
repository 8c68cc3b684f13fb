import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readTarball } from "./read-tarball.ts";
import { headerOf as header, tarballOf as tarball } from "./tarball.fixture.ts";

test("files come out without the first folder, sorted, and executable where they are", async () => {
  const files = await readTarball(
    tarball(
      { path: "package/src", type: "5" },
      { path: "package/src/b.ts", text: "b".repeat(600) },
      { path: "package/bin/a", text: "#!", mode: 0o755 },
    ),
  );

  expect(files.map(({ path, isExecutable, bytes }) => [path, isExecutable, bytes.length])).toEqual([
    ["bin/a", true, 2],
    ["src/b.ts", false, 600],
  ]);
});

test("long names are read in both ways of writing them", async () => {
  const long = `package/${"d/".repeat(80)}name.ts`;
  const record = ` path=${long}\n`;
  const length = String(record.length + 3);

  const [pax] = await readTarball(
    tarball({ path: "x", type: "x", text: length + record }, { path: "package/cut", text: "1" }),
  );
  const [gnu] = await readTarball(
    tarball({ path: "././@LongLink", type: "L", text: `${long}\0` }, { path: "package/cut" }),
  );

  expect(pax?.path).toBe(long.slice("package/".length));
  expect(gnu?.path).toBe(long.slice("package/".length));
});

describe("refused is", () => {
  test.each([
    { what: "a path that climbs out", entry: { path: "package/../../etc/passwd" } },
    { what: "an absolute path", entry: { path: "/etc/passwd" } },
    { what: "a path with a backslash", entry: { path: "package/..\\..\\boot.ini" } },
    { what: "a drive", entry: { path: "C:/package/a" } },
    { what: "Git's own folder", entry: { path: "package/.GIT/hooks/post-checkout" } },
    { what: "a file in place of the folder", entry: { path: "package" } },
    { what: "a symbolic link", entry: { path: "package/link", type: "2" } },
    { what: "a hard link", entry: { path: "package/link", type: "1" } },
    { what: "a device", entry: { path: "package/null", type: "3" } },
  ])("$what", async ({ entry }) => {
    await expect(readTarball(tarball({ path: "package/ok" }, entry))).rejects.toThrow(/refused/);
  });

  test("an archive that is larger than it may be", async () => {
    const bomb = tarball({ path: "package/zeros", text: "0".repeat(100_000) });

    await expect(readTarball(bomb, { bytes: 50_000, files: 10 })).rejects.toThrow(/50000 bytes/);
  });

  test("a file below a file", async () => {
    const both = tarball({ path: "package/a" }, { path: "package/a/b" });

    await expect(readTarball(both)).rejects.toThrow(/"a\/b" is below a path that is a file/);
  });

  test("one with too many files", async () => {
    const many = tarball(...["a", "b", "c"].map((name) => ({ path: `package/${name}` })));

    await expect(readTarball(many, { bytes: 1e6, files: 2 })).rejects.toThrow(/more than 2 files/);
  });

  test("one that is cut off, damaged, or something else", async () => {
    const whole = Buffer.concat([header({ path: "package/a" }, 5_000), Buffer.alloc(100)]);
    const damaged = header({ path: "package/a" }, 0).fill("x", 0, 3);

    await expect(readTarball(gzipSync(whole))).rejects.toThrow(/middle of a file/);
    await expect(readTarball(gzipSync(damaged))).rejects.toThrow(/checksum/);
    await expect(readTarball(Buffer.from("<html>"))).rejects.toThrow(/not a gzip file/);
  });
});
