import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readableShellWord, shellWord } from "./shell-word.ts";

test("a shell reads back what was written", () => {
  const texts = fc.sample(
    fc.string({ unit: "binary" }).filter((text) => !text.includes("\0")),
    60,
  );
  const tricky = ["", "a b", "it's", "$(id)", "~", "!x", "{a,b}", "*", "a\nb", "x=1", "--flag=a b"];
  const all = [...texts, ...tricky];
  for (const write of [shellWord, readableShellWord]) {
    const script = `printf '%s\\0' ${all.map(write).join(" ")}`;
    const read = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0");
    expect(read.slice(0, -1)).toEqual(all);
  }
});

test("what is plain stays plain for people", () => {
  expect(["make", "-j2", "CC=ccache gcc", "//app/...:all"].map(readableShellWord)).toEqual([
    "make",
    "-j2",
    "'CC=ccache gcc'",
    "//app/...:all",
  ]);
});
