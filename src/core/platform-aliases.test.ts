import { expect, test } from "vitest";
import { parsePlatformAliases, withAliases } from "./platform-aliases.ts";

const aliases = parsePlatformAliases("Arch:amd64=ISA:x86-64, Arch:arm64=ISA:arm-a64, machine=Pool");

test.each([
  [
    { Arch: "amd64", OSFamily: "linux" },
    { ISA: "x86-64", OSFamily: "linux" },
  ],
  [{ Arch: "sparc" }, { Arch: "sparc" }],
  [{ machine: "big:one" }, { Pool: "big:one" }],
  [{ machine: "a", Pool: "b" }, { Pool: "b" }],
  [{}, {}],
])("%j means %j", (platform, meant) => {
  expect(withAliases(platform, aliases)).toEqual(meant);
});

test.each(["Arch", "Arch:amd64=ISA", "Arch=ISA:x86-64", "a=b=c", "=b", "a=", ":v=b:v"])(
  "%j is refused",
  (text) => {
    expect(() => parsePlatformAliases(text)).toThrow("is no alias of a platform property");
  },
);

test("without aliases, nothing changes", () => {
  expect(withAliases({ a: "b" }, parsePlatformAliases(""))).toEqual({ a: "b" });
});
