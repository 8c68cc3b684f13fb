import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseGranarySettings } from "./granary-settings.ts";
import { openKnownDigests } from "./known-digests.ts";
import { readEnvironment } from "./read-environment.ts";
import { imageIn } from "./system-image.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "grange-environment-")));
  for (const name of ["bin", "other", "workspace", "data"]) mkdirSync(join(root, name));
  program("bin/mycc", "one");
});
afterEach(() => rmSync(root, { recursive: true }));

function program(path: string, text: string): void {
  writeFileSync(join(root, path), text);
  chmodSync(join(root, path), 0o755);
  // An old time, because a file that was just written is not remembered.
  utimesSync(join(root, path), 1_000_000, 1_000_000);
}

async function read(
  variables: Record<string, string> = {},
  settings = "environment: {tools: [mycc, absent], variables: [CFLAGS], files: [lock, link]}",
) {
  return readEnvironment({
    settings: parseGranarySettings(settings),
    root: join(root, "workspace"),
    variables: { PATH: `${join(root, "bin")}:${join(root, "other")}`, ...variables },
    digests: await openKnownDigests(join(root, "data")),
  });
}

test("it has a name, and lists the facts that it is made of", async () => {
  const { name, facts } = await read({
    CFLAGS: `-O2 -I${join(root, "workspace")}/include`,
    HOME: "/x",
  });

  expect(name).toMatch(/^[0-9a-f]{64}$/);
  expect(facts).toMatchObject({
    os: process.platform,
    arch: process.arch,
    "tool mycc": `7692c3ad3540 ${join(root, "bin", "mycc")}`,
    "variable CFLAGS": "-O2 -I<root>/include",
    "file lock": "absent",
  });
  expect(facts).not.toHaveProperty("tool absent");
  expect(facts).not.toHaveProperty("variable HOME");
});

test("it does not depend on the place of a compiler, or on other variables", async () => {
  const before = await read();
  renameSync(join(root, "bin", "mycc"), join(root, "other", "mycc-12"));
  symlinkSync("mycc-12", join(root, "other", "mycc"));

  expect((await read({ LANG: "de" })).name).toBe(before.name);
});

test("it differs with another compiler, flag, or file", async () => {
  const names = [(await read()).name];
  names.push((await read({ CFLAGS: "-O0" })).name);
  writeFileSync(join(root, "workspace", "lock"), "1");
  names.push((await read()).name);
  program("bin/mycc", "two");
  names.push((await read()).name);

  expect(new Set(names).size).toBe(4);
});

test("a cache in front of a compiler does not count as the compiler", async () => {
  const before = await read();
  mkdirSync(join(root, "masks"));
  program("masks/ccache", "a cache");
  symlinkSync("ccache", join(root, "masks", "mycc"));

  const { name } = await read({ PATH: `${join(root, "masks")}:${join(root, "bin")}` });

  expect(name).toBe(before.name);
});

test("a large compiler differs when any byte differs, even with equal size and time", async () => {
  const text = "x".repeat(5 * 1024 * 1024);
  const withY = (at: number) => `${text.slice(0, at)}y${text.slice(at + 1)}`;
  const last = text.length - 1;
  const names = [];
  for (const each of [text, `${text}x`, withY(0), withY(100_000), withY(last), text]) {
    program("bin/mycc", each);
    names.push((await read()).name);
  }
  expect(new Set(names).size).toBe(5);
  expect(names[5]).toBe(names[0]);
});

test("a compiler that a variable names counts by its content, for a name and for a path", async () => {
  const settings = "environment: {tools: [], variables: [CC]}";
  program("bin/mycc-9", "nine");
  for (const CC of ["ccache mycc-9 -m32", join(root, "bin", "mycc-9")]) {
    program("bin/mycc-9", "nine");
    const before = await read({ CC }, settings);
    program("bin/mycc-9", "NINE");
    expect((await read({ CC }, settings)).name).not.toBe(before.name);
  }
});

test("builds without a workspace are also distinguished by their compilers", async () => {
  const nowhere = async () =>
    readEnvironment({
      settings: parseGranarySettings("environment: {tools: [mycc], files: [lock]}"),
      root: undefined,
      variables: { PATH: join(root, "bin"), CFLAGS: "-O2" },
      digests: await openKnownDigests(join(root, "data")),
    });
  const before = await nowhere();
  program("bin/mycc", "two");

  expect((await nowhere()).name).not.toBe(before.name);
});

test.each([
  ['ID=debian\nVERSION_ID="12"\nVERSION="12 (bookworm)"\n', "debian 12"],
  ["PRETTY_NAME=x\nID=arch\n", "arch"],
  ["", ""],
])("the image of %j", (text, image) => {
  expect(imageIn(text)).toBe(image);
});

test("a link that leads out of the repository is not followed", async () => {
  const before = await read();
  writeFileSync(join(root, "secret"), "s");
  symlinkSync("../secret", join(root, "workspace", "link"));

  expect((await read()).name).toBe(before.name);
});

test("a compiler is read once, and again after it has changed", async () => {
  const { name } = await read();
  const remembered = join(root, "data", "tool-hashes.json");
  const text = readFileSync(remembered, "utf8");
  writeFileSync(remembered, text.replaceAll(/[0-9a-f]{64}/g, "0".repeat(64)));
  const lied = await read();
  expect(lied.facts["tool mycc"]).toMatch(/^000000000000 /);

  program("bin/mycc", "six");
  program("bin/mycc", "one");
  expect((await read()).name).toBe(name);

  writeFileSync(remembered, "{ rotten");
  expect((await read()).name).toBe(name);
});

test("when nothing can be remembered, the environment still has a name", async () => {
  const { name } = await read();
  rmSync(join(root, "data"), { recursive: true });
  writeFileSync(join(root, "data"), "a file");

  expect((await read()).name).toBe(name);
});
