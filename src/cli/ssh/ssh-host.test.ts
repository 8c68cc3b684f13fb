import { describe, expect, test } from "vitest";
import { isLoopback, parseSshHost, workerNameFor } from "./ssh-host.ts";

describe("a host of ssh", () => {
  test.each([
    { text: "attic", user: undefined, host: "attic", port: undefined, name: "attic" },
    { text: "me@attic.lan", user: "me", host: "attic.lan", port: undefined, name: "attic.lan" },
    { text: "me@attic:2222", user: "me", host: "attic", port: 2222, name: "attic-2222" },
    { text: "build_1:22", user: undefined, host: "build_1", port: 22, name: "build-1-22" },
    { text: "me@[fd00::1]:22", user: "me", host: "fd00::1", port: 22, name: "fd00--1-22" },
    { text: "[::1]", user: undefined, host: "::1", port: undefined, name: "1" },
  ])("$text is understood, and its worker called $name", ({ text, name, ...parts }) => {
    const host = parseSshHost(text);

    expect(host).toEqual({ text, ...parts });
    expect(workerNameFor(host)).toBe(name);
  });

  test.each([
    "",
    "-oProxyCommand=x",
    "me@-oProxyCommand=x",
    "-l@attic",
    "a b",
    "a;b",
    "a`b`",
    "$(a)",
    "a'b",
    "a\nb",
    "a@b@c",
    "@attic",
    "attic:",
    "attic:0",
    "attic:65536",
    "attic:22:22",
    "[attic]",
    "fd00::1",
    "%h",
  ])("%j is none", (text) => {
    expect(() => parseSshHost(text)).toThrow("--ssh takes [user@]host[:port]");
  });
});

test.each([
  { hostname: "localhost", expected: true },
  { hostname: "127.0.0.1", expected: true },
  { hostname: "127.8.8.8", expected: true },
  { hostname: "[::1]", expected: true },
  { hostname: "127.0.0.1.example.org", expected: false },
  { hostname: "10.0.0.1", expected: false },
])("that $hostname is the machine itself is $expected", ({ hostname, expected }) => {
  expect(isLoopback(hostname)).toBe(expected);
});
