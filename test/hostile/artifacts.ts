import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readTarball } from "#artifacts/read-tarball.ts";
import { headerOf, type TarEntry, tarballOf } from "#artifacts/tarball.fixture.ts";
import { unpackTarball } from "#artifacts/unpack-tarball.ts";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { openFarm } from "./open-farm.ts";

type Case = HostileCase<HostileFarm>;

/** Checks that the artifact is refused with a message, and that no file of it exists. */
async function unpacked(bytes: Uint8Array): Promise<readonly string[]> {
  const place = await mkdtemp(join(tmpdir(), "grange-unpacked-"));
  try {
    const folder = join(place, "inner", "folder");
    await mkdir(folder, { recursive: true });
    await assert.rejects(unpackTarball(bytes, folder), (reason) => reason instanceof Fault);
    return (await readdir(place, { recursive: true })).filter(
      (path) => !/^inner(\/folder)?$/.test(path),
    );
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function refused(name: string, ...entries: readonly TarEntry[]): Case {
  return {
    name: `an archive with ${name}`,
    async run() {
      const good = { path: "package/good", text: "good" };
      assert.deepEqual(await unpacked(tarballOf(good, ...entries)), []);
    },
  };
}

const pax = (record: string) => {
  let length = record.length + 3;
  if (String(length).length + 1 + record.length + 1 !== length) length += 1;
  return `${length} ${record}\n`;
};

const archives: readonly Case[] = [
  refused("a path that climbs", { path: "package/../../../x" }),
  refused("an absolute path", { path: "/tmp/x" }),
  refused("a path with backslashes", { path: "package\\..\\..\\x" }),
  refused("a drive", { path: "C:/x/y" }),
  refused("a link", { path: "package/link", type: "2" }),
  refused(
    "a file through a link",
    { path: "package/l", type: "2" },
    { path: "package/l/x", text: "x" },
  ),
  refused("a hard link", { path: "package/link", type: "1" }),
  refused("a device of characters", { path: "package/null", type: "3" }),
  refused("a device of blocks", { path: "package/sda", type: "4" }),
  refused("a fifo", { path: "package/fifo", type: "6" }),
  refused("a sparse file", { path: "package/sparse", type: "S" }),
  refused("a type that nobody knows", { path: "package/x", type: "Z" }),
  refused(
    "a pax path that climbs",
    { path: "x", type: "x", text: pax("path=package/../../x") },
    { path: "package/x" },
  ),
  refused(
    "a GNU name that climbs",
    { path: "././@LongLink", type: "L", text: "package/../../x\0" },
    { path: "package/x" },
  ),
  refused(
    "a pax path with an escape",
    { path: "x", type: "x", text: pax("path=package/\u001b[2Jx") },
    { path: "package/x" },
  ),
  refused(
    "a pax record without a length",
    { path: "x", type: "x", text: "path=package/x\n" },
    { path: "package/x" },
  ),
  refused("Git's own folder", {
    path: "package/.GiT/hooks/post-checkout",
    text: "#!/bin/sh",
    mode: 0o755,
  }),
  refused(
    "a path of 5,000 bytes",
    { path: "x", type: "x", text: pax(`path=package/${"x".repeat(5_000)}`) },
    { path: "package/x" },
  ),
  refused(
    "a file where a folder is",
    { path: "package/a", text: "1" },
    { path: "package/a/b", text: "2" },
  ),
  {
    name: "an archive whose file is larger than it",
    async run() {
      assert.deepEqual(
        await unpacked(
          gzipSync(Buffer.concat([headerOf({ path: "package/a" }, 1e9), Buffer.alloc(512)])),
        ),
        [],
      );
    },
  },
  {
    name: "an archive with a size below 0, in base 256",
    async run() {
      const header = headerOf({ path: "package/a" }, 0);
      header.fill(0xff, 124, 136);
      header.write(" ".repeat(8), 148);
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      assert.deepEqual(await unpacked(gzipSync(Buffer.concat([header, Buffer.alloc(1_024)]))), []);
    },
  },
  {
    name: "an archive of 1,000,000 entries (120,000 in the short run)",
    alone: true,
    async run({ full }) {
      const one = headerOf({ path: "package/a" }, 0);
      const parts: Buffer[] = [];
      for (let n = 0; n < (full ? 1_000_000 : 120_000); n++) {
        const header = Buffer.from(one);
        header.write(String(n).padStart(7, "0"), 8);
        header.write(" ".repeat(8), 148);
        const sum = header.reduce((total, byte) => total + byte, 0);
        header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
        parts.push(header);
      }
      assert.deepEqual(await unpacked(gzipSync(Buffer.concat(parts), { level: 1 })), []);
    },
  },
  {
    name: "an archive that unpacks to 2 GiB (300 MiB in the short run)",
    alone: true,
    async run({ full }) {
      const zeros = gzipSync(Buffer.alloc(1_048_576), { level: 1 });
      // Consecutive gzip members are one stream.
      const bomb = Buffer.concat(Array.from({ length: full ? 2_048 : 300 }, () => zeros));
      await assert.rejects(readTarball(bomb), /contains more than 268435456 bytes/);
    },
  },
];

const pages = [
  "<html><script>alert(1)</script>",
  '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
  "%PDF-1.7 /JS",
  "MZ\u0090",
  "GIF89a/*<script>*/",
  "{}<script>",
];
const fileNames = [
  "index.html",
  'a"; filename="b.html',
  "a\r\nset-cookie: a=b",
  "../../etc/passwd",
  "\u202egnp.exe",
  "a".repeat(10_000),
  "con",
  "ä/ö?.html",
  "\ud800",
];

async function keptBlob(farm: HostileFarm, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const digest = digestOf(bytes);
  await farm.blobs.put(digest, bytes);
  return `/blobs/${digestKey(digest)}`;
}

function isNoPage(headers: Headers): void {
  assert.equal(headers.get("content-type"), "application/octet-stream");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.match(
    headers.get("content-disposition") ?? "",
    /^attachment; filename\*=UTF-8''[\w.!~%-]{1,1900}$/,
  );
  assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*sandbox/);
  assert.equal(headers.get("set-cookie"), null);
}

const served: readonly Case[] = [
  ...pages.map(
    (page): Case => ({
      name: `a blob that begins with ${JSON.stringify(page.slice(0, 12))} is no page`,
      async run(farm) {
        const path = await keptBlob(farm, page);
        isNoPage((await farm.ask(path)).headers);
        const text = await farm.ask(`${path}?as=text`);
        if (text.status === 200) {
          assert.equal(text.headers.get("content-type"), "text/plain; charset=utf-8");
          assert.equal(text.headers.get("x-content-type-options"), "nosniff");
          assert.match(text.headers.get("content-security-policy") ?? "", /sandbox/);
        }
        const wanting = { headers: { accept: "text/html" } };
        const html = await farm.ask(`${path}?as=html&name=x.html`, undefined, wanting);
        assert.equal(html.status, 400);
        assert.equal(html.headers.get("content-type"), "application/json");
        const typed = await farm.ask(`${path}?type=text/html`, undefined, wanting);
        assert.equal(typed.status, 400);
        assert.equal(typed.headers.get("content-type"), "application/json");
      },
    }),
  ),
  ...fileNames.map(
    (name): Case => ({
      name: `a download named ${JSON.stringify(name.slice(0, 24))}`,
      async run(farm) {
        const path = await keptBlob(farm, "bytes");
        const { headers, status } = await farm.ask(
          `${path}?${new URLSearchParams({ name }).toString()}`,
        );
        assert.equal(status, 200);
        isNoPage(headers);
      },
    }),
  ),
  {
    name: "an entry of a build tool's cache that is a page",
    async run({ url }) {
      const place = `${url}/cache/hostile/gradle/0123456789abcdef0123456789abcdef`;
      const put = await fetch(place, {
        method: "PUT",
        body: "<script>alert(1)</script>",
        headers: { "content-type": "text/html" },
      });
      assert(put.ok, String(put.status));
      const { headers } = await fetch(place, { headers: { accept: "text/html" } });
      assert.equal(headers.get("content-type"), "application/octet-stream");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    },
  },
];

export const artifactSuite: HostileSuite<HostileFarm> = {
  interface: "artifacts and archives",
  atLeast: 20,
  cases: [...archives, ...served],
  open: openFarm,
};
