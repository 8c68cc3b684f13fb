import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { remoteScript, sshArguments } from "./ssh-arguments.ts";
import { parseSshHost } from "./ssh-host.ts";

const access = { key: undefined, options: [] };

test("the host stands after all options, where it cannot be taken for one", () => {
  const args = sshArguments(parseSshHost("me@attic:22"), access, "true");

  expect(args.slice(-7)).toEqual(["-l", "me", "-p", "22", "--", "attic", "true"]);
});

test("what a user says goes before what we say, for ssh keeps the first", () => {
  const options = ["ConnectTimeout=1", "UserKnownHostsFile=/a b"];

  const args = sshArguments(parseSshHost("attic"), { key: "/k", options }, "true");

  expect(args.indexOf("ConnectTimeout=1")).toBeLessThan(args.indexOf("ConnectTimeout=15"));
  expect(args).toContain("UserKnownHostsFile=/a b");
});

test("what opens a tunnel goes before what a user says", () => {
  const options = ["LogLevel=ERROR"];

  const args = sshArguments(parseSshHost("attic"), { key: undefined, options }, undefined, [
    "-o",
    "LogLevel=INFO",
  ]);

  expect(args.indexOf("LogLevel=INFO")).toBeLessThan(args.indexOf("LogLevel=ERROR"));
});

test("a command line is one line, however many its script has", () => {
  expect(remoteScript("\n  true;\n  false;\n", ["a"])).toBe(
    "'sh' '-c' 'true; false;' 'grange' 'a'",
  );
});

test.each(["-R 1:2:3", "ProxyCommand", "=x", ""])("refuses %j as an option", (option) => {
  expect(() =>
    sshArguments(parseSshHost("attic"), { key: undefined, options: [option] }, "true"),
  ).toThrow("--ssh-option takes Name=value");
});

test("whatever an argument holds, the script on the other side gets just that", () => {
  // Unpaired surrogates do not survive UTF-8, and NUL cannot be in a command line.
  const word = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), (words) => {
      // Processes the command line of a client like sshd.
      const line = remoteScript(`printf '%s\\0' "$@"`, ["first", ...words]);
      const seen = execFileSync("sh", ["-c", line], { encoding: "utf8" });

      expect(seen).toBe(["first", ...words].map((each) => `${each}\0`).join(""));
    }),
    { numRuns: 50 },
  );
});
