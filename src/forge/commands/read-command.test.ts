import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BenchChoice } from "./command.ts";
import { findCommand, readCommand } from "./read-command.ts";

const usual: BenchChoice = {
  backends: [],
  profiles: [],
  targets: [],
  benchmarks: [],
  runs: undefined,
};
const sha = "0123456789abcdef0123456789abcdef01234567";

describe("a command", () => {
  test.each([
    ["@grange bench", { kind: "bench", isToWait: false, choice: usual }],
    ["@Grange  BENCH\tqueue", { kind: "bench", isToWait: true, choice: usual }],
    [
      "@grange bench queue backends=llvm,cranelift profiles= targets=x86_64-linux benchmarks=a,,b,a runs=5",
      {
        kind: "bench",
        isToWait: true,
        choice: {
          backends: ["llvm", "cranelift"],
          profiles: [],
          targets: ["x86_64-linux"],
          benchmarks: ["a", "b"],
          runs: 5,
        },
      },
    ],
    [`@grange build ${sha.toUpperCase()}`, { kind: "build", sha, choice: usual }],
    [
      `@grange build https://github.com/octo/demo/commit/${sha} runs=2`,
      { kind: "build", sha, choice: { ...usual, runs: 2 } },
    ],
    [
      `@grange build https://github.com/octo/demo/pull/7/commits/0123456`,
      { kind: "build", sha: "0123456", choice: usual },
    ],
    ["@grange retrigger", { kind: "retrigger", selection: "state:failed" }],
    [
      "@grange retrigger platform:linux & !name:lint",
      { kind: "retrigger", selection: "platform:linux & !name:lint" },
    ],
    ["@grange cancel", { kind: "cancel" }],
    ["@grange approve", { kind: "approve", sha: undefined }],
    ["@grange approve 0123456", { kind: "approve", sha: "0123456" }],
    ["@grange help", { kind: "help" }],
  ])("%s", (line, command) => {
    expect(findCommand(line)).toBe(line.trim());
    expect(readCommand(line)).toEqual({ kind: "command", command });
  });

  test.each([
    ["@grange", /no command follows the name; the commands are bench, build, .* help/],
    ["@grange frobnicate", /"frobnicate" is not a command; the commands are bench/],
    ["@grange bench speed=11", /"speed=11" is none of backends=…, profiles=…/],
    ["@grange bench backends = llvm", /"backends" is none of .* without spaces round the =/],
    ["@grange bench queue queue", /"queue" is none of/],
    ["@grange bench runs=1 runs=1", /runs= occurs twice/],
    ["@grange bench runs=0", /runs= is a number from 1 to 50, not "0"/],
    ["@grange bench runs=1e2", /not "1e2"/],
    ["@grange bench backends=../../etc", /"\.\.\/\.\.\/etc" cannot be a name of backends/],
    [
      `@grange bench targets=${Array.from({ length: 51 }, (_, i) => `t${i}`).join(",")}`,
      /targets= has more than 50 names/,
    ],
    ["@grange build", /build needs a commit: 7 to 40 hex digits/],
    ["@grange build main", /"main" is not a commit/],
    ["@grange build 012345", /"012345" is not a commit/],
    [`@grange build ${sha}0`, /is not a commit/],
    ["@grange retrigger (a", /selection, column \d+: this bracket is never closed/],
    ["@grange cancel everything", /cancel has no arguments, but "everything" follows it/],
    ["@grange approve 0123456 and more", /approve takes one commit, and "and" follows it/],
    ["@grange approve --force", /"--force" is not a commit/],
    ["@grange help\n@grange cancel", /a comment has one command/],
  ])("that is wrong says what would be right: %s", (line, problem) => {
    expect(readCommand(line)).toEqual({
      kind: "wrong",
      problem: expect.stringMatching(problem),
    });
  });

  test("that is too long to be typed", () => {
    expect(readCommand(`@grange retrigger ${"a ".repeat(20_000)}`)).toEqual({
      kind: "wrong",
      problem: expect.stringMatching(/more than \d+ characters/),
    });
  });

  test("is addressed by the farm's name", () => {
    expect(findCommand("@c++.farm help", "c++.farm")).toBe("@c++.farm help");
    expect(findCommand("@cxxxfarm help", "c++.farm")).toBeUndefined();
    expect(findCommand("@grange help", "c++.farm")).toBeUndefined();
  });
});

describe("a line without a command", () => {
  test.each([
    ["in the middle of a line", "please @grange bench"],
    ["of another name", "@grange-bot bench\n@grangers help\n@grange/team bench\n@grange, thanks"],
    ["a quote", "> @grange approve\n\nI would not."],
    ["what continues a quote without its sign", "> somebody said\n@grange approve"],
    ["a quote in a quote", ">> a\n> b\n@grange approve"],
    ["in a fence", "```\n@grange approve\n```\n"],
    ["in a fence of tildes that holds another", "~~~~\n```\n~~~\n@grange approve\n~~~~"],
    ["in a fence that is never closed", "```sh\n@grange approve"],
    ["in a fence that looks closed", "````\n```\n@grange approve\n````"],
    ["code by indentation", "Try:\n\n    @grange approve\n\n\t@grange approve"],
    ["between backticks over several lines", "say `so:\n@grange approve\n` now"],
    ["in a comment of HTML", "hello <!-- dear\n@grange approve\n--> all"],
    ["in a comment of HTML with an empty line", "<!--\n\n@grange approve\n\n-->"],
    ["in preformatted HTML", "<pre>\n\n@grange approve\n\n</pre>"],
    ["in quoted HTML", "<blockquote>\n@grange approve\n</blockquote>"],
    ["folded away", "<details><summary>logs</summary>\n\n@grange approve\n\n</details>"],
    ["of an item of a list", "- @grange bench\n* @grange bench\n1. @grange bench"],
    ["escaped", "\\@grange approve\n&#64;grange approve"],
    ["a heading or a row of a table", "# @grange bench\n| @grange bench |"],
    ["after an invisible character", "\u200b@grange approve\n\u2060@grange approve"],
    ["in letters that only look like it", "@gr\u0430nge approve"],
  ])("%s", (_, body) => {
    expect(findCommand(body)).toBeUndefined();
  });

  test.each([
    ["after a quote and an empty line", "> looks good\n\n@grange bench", "@grange bench"],
    ["after code", "```\nx\n```\n@grange bench", "@grange bench"],
    ["after tags between backticks", "`<details>` is odd\n\n@grange bench", "@grange bench"],
    ["after HTML that is closed", "<pre>a</pre>\n@grange bench", "@grange bench"],
    ["with a browser's line ends", "hello\r\n\r\n  @grange bench\r\nbye", "@grange bench"],
    ["beside a lone backtick", "it's ` odd\n@grange bench", "@grange bench"],
  ])("but one is %s", (_, body, line) => {
    expect(findCommand(body)).toBe(line);
  });
});

describe("for any text", () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom(
        ..."@grange bench queue build retrigger approve `` ``` ~~~ > <!-- --> <pre> </pre> | & ! ( ) = , runs= \n \r\n"
          .split(" ")
          .map((word) => (word === "\\n" ? "\n" : word)),
        "\n",
        "\n\n",
        "    ",
      ),
      fc.string({ unit: "binary" }),
    ),
  );

  test("the line is parsed or rejected", () => {
    fc.assert(
      fc.property(text, (parts) => {
        const line = findCommand(parts.join(" "));
        for (const each of [line ?? "", parts.join("")]) {
          expect(["command", "wrong"]).toContain(readCommand(each).kind);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["backticks", "`"],
    ["backticks and breaks", "``\n`\n"],
    ["fences", "```\n"],
    ["quotes", ">"],
    ["tags", "<pre>"],
    ["comments", "<!--"],
    ["names", "@grange\n"],
    ["brackets", "@grange retrigger ("],
  ])("twice as many %s take at most some twice as long", (_, piece) => {
    const cpuMs = (length: number) => {
      const body = piece.repeat(length / piece.length);
      const before = process.cpuUsage();
      for (let i = 0; i < 2; i += 1) findCommand(body);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    cpuMs(16_384);
    const one = cpuMs(16_384);
    const four = cpuMs(65_536);

    // A quadratic algorithm would take sixteen times as long.
    expect(four).toBeLessThan(Math.max(9 * one, 300));
  });
});
