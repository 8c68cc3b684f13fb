import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SecretForms } from "./log-mask.ts";

const secret = "s3cr3t/+Valüe=42";
const forms = new SecretForms([Buffer.from(secret)]);

function maskedIn(pieces: readonly Uint8Array[], of = forms): string {
  const mask = of.mask();
  return Buffer.concat([...pieces.map((piece) => mask.pass(piece)), mask.end()]).toString();
}
const masked = (text: string, of = forms) => maskedIn([Buffer.from(text)], of);

/** Cuts bytes at the given positions. */
function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((n) => n % (bytes.byteLength + 1)).toSorted((a, b) => a - b)];
  return places.map((from, i) => bytes.subarray(from, places[i + 1] ?? bytes.byteLength));
}

const coloured = Array.from(secret).join("\u001b[1;31m");
const base64 = (text: string) => Buffer.from(text).toString("base64");

const percentOf = (text: string) => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&");

/** Returns the output of a program for given bytes. */
function dumped(command: string, bytes: Uint8Array): string {
  return execFileSync("/bin/sh", ["-c", command], { input: bytes }).toString();
}

describe("dumps show nothing of a secret", () => {
  const long = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
  const ofLong = new SecretForms([Buffer.from(long)]);
  const hexOf = (text: string) => Buffer.from(text).toString("hex");
  /** Returns the bytes that a dump still shows, without its offsets and its right column. */
  const leftIn = (told: string) =>
    told
      .replaceAll(/^[0-9a-f]+:? ?/gm, "")
      .replaceAll(/ {2}.*$/gm, "")
      .replaceAll(/[^0-9a-f]/g, "");

  test.each(["", "x", "before "])("of od -tx1, after %j", (before) => {
    for (const options of ["-tx1", "-An -tx1", "-Ad -v -tx1"]) {
      const told = masked(dumped(`od ${options}`, Buffer.from(`${before}${long}`)), ofLong);

      expect(told).toContain("***");
      for (let at = 0; at + 4 <= long.length; at++)
        expect(told.replaceAll(" ", "")).not.toContain(hexOf(long.slice(at, at + 4)));
    }
  });

  // The output of `xxd`, which is not installed on every machine.
  test.each(["", "x", "before "])("of xxd, after %j", (before) => {
    const told = masked(xxd(Buffer.from(`${before}${long}`)), ofLong);

    expect(told).toContain("***");
    expect(leftIn(told)).not.toContain(hexOf(long.slice(0, 4)));
    for (let at = 0; at + 16 <= long.length; at++)
      expect(told).not.toContain(long.slice(at, at + 16));
  });

  test("without a prefix, the text column is hidden, too", () => {
    const told = masked(
      xxd(Buffer.from(`${long.slice(0, 28)}`)),
      new SecretForms([Buffer.from(long.slice(0, 28))]),
    );

    expect(told).not.toMatch(/[A-Z][a-z][A-Z]/);
  });
});

/** Returns lines in the format of `xxd`. */
function xxd(bytes: Buffer): string {
  const lines = Array.from({ length: Math.ceil(bytes.byteLength / 16) }, (_, n) => {
    const line = bytes.subarray(n * 16, n * 16 + 16);
    const hex = line.toString("hex").replaceAll(/(....)(?=.)/g, "$1 ");
    const shown = line.toString("latin1").replaceAll(/[^ -~]/g, ".");
    return `${(n * 16).toString(16).padStart(8, "0")}: ${hex.padEnd(39)}  ${shown}`;
  });
  return `${lines.join("\n")}\n`;
}

describe("a secret is hidden", () => {
  test.each([
    ["as it is", `token: ${secret}.`, "token: ***."],
    ["twice on a line", `${secret} ${secret}`, "*** ***"],
    ["with colours within", `<${coloured}>`, "<***>"],
    [
      "in a link's address",
      `\u001b]8;;https://x/${secret}\u0007here`,
      "\u001b]8;;https://x/***\u0007here",
    ],
    ["behind a sequence that never ends", `\u001b]0;${secret}`, "\u001b]0;***"],
    ["encoded for a URL", `?k=${encodeURIComponent(secret)}&`, "?k=***&"],
    ["in JSON", JSON.stringify({ k: secret }), '{"k":"***"}'],
    ["in hex", Buffer.from(secret).toString("hex"), "***"],
    ["with each byte as %xx", percentOf(secret), "***"],
    ["with each byte as %XX", percentOf(secret).toUpperCase(), "***"],
    ["broken over lines", `a ${secret.slice(0, 5)}\n${secret.slice(5)} b`, "a ***\n b"],
  ])("%s", (_, printed, expected) => {
    expect(masked(printed)).toBe(expected);
  });

  test.each(["", "u", "us", "user:", "user1:", "user12:"])(
    "in base64, after %j and before more",
    (before) => {
      const told = masked(base64(`${before}${secret}:more`));
      expect(told).toContain("***");
      // The remaining letters can be decoded to at most a few letters of the neighbours.
      expect(Buffer.from(told, "base64").toString("latin1")).not.toContain(secret.slice(2, -2));
      expect(told.length).toBeLessThan(base64(`${before}:more`).length + 11);
    },
  );

  test("in base64 with line breaks, and the line breaks stay", () => {
    const long = "x".repeat(100) + secret + "y".repeat(100);
    const wrapped = base64(long).replaceAll(/(.{20})/g, "$1\n");

    const told = masked(wrapped);

    expect(told).toContain("***");
    expect(told.split("\n").length).toBe(wrapped.split("\n").length);
    expect(Buffer.from(told.replaceAll(/[*\n]/g, ""), "base64").toString("latin1")).not.toContain(
      "cr3t",
    );
  });

  test("line by line, for a value of several lines", () => {
    const key = new SecretForms([Buffer.from("-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n")]);

    expect(masked("  1: abcdefghijkl\n  2: mnopqrstuvwx\n", key)).toBe("  1: ***\n  2: ***\n");
    expect(masked("-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n!", key)).toBe("***\n\n\n!");
  });
});

test("other text is unchanged, byte for byte", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat()), (bytes, at) => {
      const mask = new SecretForms([Buffer.from("never in here, whatever comes")]).mask();
      const told = Buffer.concat([...cut(bytes, at).map((piece) => mask.pass(piece)), mask.end()]);
      expect(told.equals(bytes)).toBe(true);
    }),
  );
});

/** Texts of few different letters, so that secrets begin, end and overlap at many places. */
const few = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 });
const noise = fc.constantFrom(
  "a",
  "b",
  "ab",
  "\n",
  "\r\n",
  "\u001b[31m",
  "\u001b]0;",
  "\u0007",
  "\u001b",
  "x",
);

test("for any division of a log, the result is the same and contains no secret", () => {
  fc.assert(
    fc.property(
      fc.array(few, { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(noise, few), { maxLength: 40 }),
      fc.array(fc.nat()),
      (secrets, printed, at) => {
        const of = new SecretForms(secrets.map((each) => Buffer.from(each)));
        // At least one of them is certainly in the text.
        const bytes = Buffer.from([...printed, secrets[0], ...printed].join(""));

        const told = maskedIn(cut(bytes, at), of);

        expect(told).toBe(maskedIn([bytes], of));
        expect(told).toContain("***");
        for (const each of secrets) {
          expect(told).not.toContain(each);
          expect(shown(told)).not.toContain(each);
        }
        expect(told.split("\n").length).toBe(bytes.toString().split("\n").length);
      },
    ),
    { numRuns: 2_000 },
  );
});

/** Returns the text that a terminal shows, on one line. */
function shown(text: string): string {
  const escape = "\u001b";
  return text.replaceAll(new RegExp(`${escape}\\[[0-9;]*m|[\\r\\n]`, "g"), "");
}

test("the time is linear, also for logs that consist mostly of secrets", () => {
  const of = new SecretForms([Buffer.alloc(8_000, "a"), Buffer.from(`${"a".repeat(5_000)}b`)]);
  const cpuMs = (bytes: number) => {
    const mask = of.mask();
    const piece = Buffer.alloc(64 * 1024, "a");
    const before = process.cpuUsage();
    for (let done = 0; done < bytes; done += piece.byteLength) mask.pass(piece);
    mask.end();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  cpuMs(4e6);
  const [once, twice] = [cpuMs(8e6), cpuMs(16e6)];

  expect(twice / once).toBeLessThan(3.5);
});

test("endless escape sequences inside a possible secret are not buffered forever", () => {
  const mask = forms.mask();
  const colours = Buffer.from("\u001b[31m".repeat(10_000));
  let out = mask.pass(Buffer.from(secret.slice(0, 6))).byteLength;
  for (let i = 0; i < 20; i++) out += mask.pass(colours).byteLength;

  expect(out).toBeGreaterThan(19 * colours.byteLength - 200_000);
});
