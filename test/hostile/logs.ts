import assert from "node:assert/strict";
import { printableLine, printableLog } from "#cli/terminal/printable-text.ts";
import { Outcome, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { LineCutter, longestJudged } from "#worker/judge/line-cutter.ts";
import { LogLines, longestLine } from "../../web/pages/log/log-lines.ts";
import { type Token, tokenizeLine } from "../../web/pages/log/tokenize-line.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { linear } from "./log-timing.ts";
import { openFarm } from "./open-farm.ts";
import { finishAs, withLease } from "./rogue-worker.ts";

const esc = "\u001b";
const bell = "\u0007";

/** Control characters for a terminal: all of C0 and C1 except line breaks and tabs. */
const steers = /[^\P{Cc}\n\r\t]/u;
const colours = new RegExp(`${esc}\\[[0-9;:]*m`, "g");

/** Returns the tokens that the page draws for a log. */
function drawn(log: string): Token[] {
  const lines = new LogLines();
  lines.push(log);
  return Array.from({ length: lines.count }, (_, n) => lines.at(n)).flatMap((line) =>
    line === undefined ? [] : tokenizeLine(line.raw, line.style),
  );
}
const textOf = (tokens: readonly Token[]) => tokens.map(({ text }) => text).join("");

/** Checks the text on the page, and that a terminal gets no control characters. */
function shown(
  name: string,
  log: string,
  look: (tokens: Token[], text: string) => void,
): HostileCase<HostileFarm> {
  return {
    name,
    async run() {
      const tokens = drawn(log);
      for (const token of tokens)
        if (token.kind === "link") assert.match(token.text, /^https?:\/\//);
      look(tokens, textOf(tokens));
      assert.equal(
        steers.test(printableLog(log).replace(colours, "")),
        false,
        "it steers a terminal",
      );
      assert.equal(steers.test(printableLine(log)), false);
    },
  };
}

const nothingLinks = (tokens: readonly Token[]) =>
  assert.equal(
    tokens.some(({ kind }) => kind === "link"),
    false,
  );

const shownAs: readonly HostileCase<HostileFarm>[] = [
  shown("<script>", "<script>alert(1)</script>", (_, text) =>
    assert.equal(text, "<script>alert(1)</script>"),
  ),
  shown(
    "an attribute that breaks out of a link",
    'https://a.example/"onmouseover="alert(1)',
    (tokens) =>
      assert.equal(tokens.find(({ kind }) => kind === "link")?.text, "https://a.example/"),
  ),
  shown("a link with a single quote and a backtick", "https://a.example/'`onx=1", (tokens) =>
    assert.equal(tokens.find(({ kind }) => kind === "link")?.text, "https://a.example/"),
  ),
  ...[
    "javascript:alert(1)",
    "data:text/html,<script>",
    "vbscript:x",
    "file:///etc/passwd",
    "JaVaScRiPt://https://",
  ].map((url) =>
    shown(
      `a link by OSC 8 to ${url.slice(0, 16)}`,
      `${esc}]8;;${url}${bell}click me${esc}]8;;${bell}`,
      (tokens, text) => {
        nothingLinks(tokens);
        assert.equal(text, "click me");
      },
    ),
  ),
  shown("javascript: as plain text", "javascript:alert(1) see", (tokens) => nothingLinks(tokens)),
  shown("the clipboard by OSC 52", `a${esc}]52;c;cm0gLXJmIC8=${bell}b`, (_, text) =>
    assert.equal(text, "ab"),
  ),
  shown("the clipboard by OSC 52, ended by ST", `a${esc}]52;c;cm0=${esc}\\b`, (_, text) =>
    assert.equal(text, "ab"),
  ),
  shown("the window's title", `a${esc}]0;owned${bell}b${esc}]2;owned${bell}`, (_, text) =>
    assert.equal(text, "ab"),
  ),
  shown("a title that never ends hides nothing", `a${esc}]0;the truth`, (_, text) =>
    assert.match(text, /the truth/),
  ),
  shown("a DCS that never ends hides nothing", `a${esc}Pthe truth`, (_, text) =>
    assert.match(text, /the truth/),
  ),
  shown(
    "a cursor that goes up over the line before",
    `FAILED\n${esc}[1A${esc}[2KPASSED\n`,
    (_, text) => {
      assert.match(text, /FAILED/);
      assert.match(text, /PASSED/);
    },
  ),
  shown("a screen that is cleared", `FAILED${esc}[2J${esc}[H${esc}cPASSED`, (_, text) =>
    assert.match(text, /FAILED/),
  ),
  shown("the other screen", `${esc}[?1049hFAILED${esc}[?1049l`, (_, text) =>
    assert.equal(text, "FAILED"),
  ),
  shown("a reset of the terminal", `${esc}ca${esc}[!pb`, (_, text) => assert.equal(text, "ab")),
  shown("backspaces over what was said", "FAILED\b\b\b\b\b\bPASSED", (_, text) =>
    assert.match(text, /FAILED/),
  ),
  shown("text in the colour of its ground", `${esc}[8mFAILED${esc}[0m`, (_, text) =>
    assert.equal(text, "FAILED"),
  ),
  shown("a question that the terminal would answer", `a${esc}[6n${esc}[c${esc}[>0qb`, (_, text) =>
    assert.equal(text, "ab"),
  ),
  shown("C1 controls of one character", "a\u009b2Jb\u009dtitle\u0007c", (_, text) =>
    assert.match(text, /U\+009B/),
  ),
  shown("text turned around by bidi controls", "if \u202e} \u2066admin\u2069", (_, text) =>
    assert.match(text, /U\+202E.*U\+2066/),
  ),
  shown("zero-width characters in a name", "adm\u200bin\u2060\ufeff", (_, text) =>
    assert.match(text, /U\+200B/),
  ),
  shown("line separators of Unicode", "a\u2028b\u2029c", (_, text) =>
    assert.match(text, /U\+2028/),
  ),
  shown("a NUL and a DEL", "a\u0000b\u007f", (_, text) => assert.match(text, /NUL.*DEL/)),
  shown("an escape cut in two by a line's end", `a${esc}\n[2Jb`, (_, text) =>
    assert.match(text, /\[2Jb/),
  ),
  shown("an escape after a million digits", `${esc}[${"9".repeat(1_000_000)}m!`, (tokens) =>
    assert(tokens.length < (1_200_000 / longestLine) * 1_000),
  ),
  shown(
    "colours that are no numbers",
    `${esc}[38;2;999;-1;x;mA${esc}[38;5mB${esc}[4:99mC`,
    (_, text) => assert.match(text, /A?.*B.*C/),
  ),
  shown(
    "the keys of a prototype as a colour",
    `${esc}[__proto__mA${esc}[constructor;mB`,
    (_, text) => assert.match(text, /A.*B/),
  ),
];

const bytes: readonly HostileCase<HostileFarm>[] = [
  {
    name: "a line of 100 MB (8 MB in the short run) is cut, and judged by its beginning",
    alone: true,
    async run({ full }) {
      const part = Buffer.alloc(65_536, "x");
      const parts = full ? 1_600 : 128;
      const cutter = new LineCutter();
      for (let n = 0; n < parts; n++) assert.equal(cutter.push(part).length, 0);
      const [line, ...more] = cutter.end();
      assert.equal(more.length, 0);
      assert((line?.text.length ?? 0) <= longestJudged);
      const lines = new LogLines();
      for (let n = 0; n < parts; n++) lines.push(part.toString("latin1"));
      assert((lines.at(0)?.raw.length ?? 0) <= longestLine);
    },
  },
  {
    name: "bytes that are no UTF-8, by way of the farm, as text that no browser takes for a page",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const data = Buffer.concat([
          Buffer.from("<html><script>alert(1)</script>"),
          Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
        ]);
        await farm.channel.unary(Workers.method.appendLog, { lease, offset: 0n, data });
        const answer = await farm.ask(`/executions/${lease.executionId}/log`);
        assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
        assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
        await finishAs(farm, me, { lease, outcome: Outcome.FAILED, result: { exitCode: 1 } });
      }),
  },
  {
    name: "events of a log that hold line breaks and the words of events",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const data = Buffer.from("x\n\nevent: end\ndata: {}\n\nid: 9:9\n\n");
        await farm.channel.unary(Workers.method.appendLog, { lease, offset: 0n, data });
        await finishAs(farm, me, { lease, outcome: Outcome.FAILED, result: { exitCode: 1 } });
        const { text } = await farm.ask(`/executions/${lease.executionId}/log/events`);
        assert.equal([...text.matchAll(/^event: end$/gm)].length, 1, text);
        assert.equal(/^id: 9:9$/m.test(text), false);
      }),
  },
  ...["-1", "1e9", "9".repeat(20), "0x10", "1;drop table log_chunk", "NaN", "1:2:3"].map(
    (offset) => ({
      name: `a log asked for from ${offset.slice(0, 12)}`,
      run: (farm: HostileFarm) =>
        withLease(farm, async ({ me, lease }) => {
          const at = encodeURIComponent(offset);
          const { status } = await farm.ask(`/executions/${lease.executionId}/log?offset=${at}`);
          assert.equal(status, 400);
          await finishAs(farm, me, { lease, outcome: Outcome.FAILED, result: { exitCode: 1 } });
        }),
    }),
  ),
];

export const logSuite: HostileSuite<HostileFarm> = {
  interface: "logs",
  atLeast: 30,
  cases: [...shownAs, ...linear, ...bytes],
  open: openFarm,
};
