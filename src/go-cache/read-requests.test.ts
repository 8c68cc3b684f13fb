import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readRequests } from "./read-requests.ts";

const id = (n: number) => Buffer.alloc(32, n).toString("base64");
const hex = (n: number) => Buffer.alloc(32, n).toString("hex");

/** The input in pieces of a size. */
async function* inPieces(text: string, bytes: number) {
  for (let at = 0; at < text.length; at += bytes) yield Buffer.from(text.slice(at, at + bytes));
}

/** Reads all requests; of a body, its hash and its size. */
async function readAll(text: string, bytes = text.length || 1) {
  const seen: unknown[] = [];
  for await (const { request, body } of readRequests(inPieces(text, bytes))) {
    const hash = createHash("sha256");
    let size = 0;
    for await (const piece of body) {
      hash.update(piece);
      size += piece.byteLength;
    }
    seen.push(size === 0 ? request : { ...request, hash: hash.digest("hex"), size });
  }
  return seen;
}

/** A put as the go command writes it. */
function put(bytes: Buffer): string {
  const request = {
    ID: 2,
    Command: "put",
    ActionID: id(1),
    OutputID: id(2),
    BodySize: bytes.length,
  };
  return `${JSON.stringify(request)}\n\n"${bytes.toString("base64")}"\n`;
}

test.each([1, 3, 7, 1_000, 1_000_000])("bodies are read in pieces of %i bytes", async (bytes) => {
  const body = randomBytes(bytes < 10 ? 100 : 200_001);
  const text = `{"ID":1,"Command":"get","ActionID":"${id(1)}"}\n\n${put(body)}{"ID":3,"Command":"close"}\n`;

  expect(await readAll(text, bytes)).toEqual([
    { ID: 1, Command: "get", ActionID: hex(1) },
    {
      ID: 2,
      Command: "put",
      ActionID: hex(1),
      OutputID: hex(2),
      BodySize: body.length,
      size: body.length,
      hash: createHash("sha256").update(body).digest("hex"),
    },
    { ID: 3, Command: "close" },
  ]);
});

test("padding of a body may arrive before its end", async () => {
  for (const bytes of [1, 2]) {
    expect(await readAll(put(Buffer.alloc(bytes)), 1)).toMatchObject([
      { BodySize: bytes, size: bytes },
    ]);
  }
});

test("a put without bytes has no body", async () => {
  const text = `{"ID":2,"Command":"put","ActionID":"${id(1)}","OutputID":"${id(2)}"}\n\n{"ID":3,"Command":"close"}\n`;

  expect(await readAll(text)).toMatchObject([{ ID: 2, BodySize: 0 }, { ID: 3 }]);
});

test("the next request is found, also when a body was not read to its end", async () => {
  const text = `${put(randomBytes(300_000))}{"ID":3,"Command":"close"}\n`;
  const seen: number[] = [];
  for await (const { request, body } of readRequests(inPieces(text, 10_000))) {
    seen.push(request.ID);
    for await (const _ of body) break;
  }

  expect(seen).toEqual([2, 3]);
});

test("an input that ends between requests, or within a line, ends the requests", async () => {
  expect(await readAll("")).toEqual([]);
  expect(await readAll('{"ID":1,"Comm')).toEqual([]);
});

test.each([
  ["no JSON", "GET / HTTP/1.1\n"],
  ["an unknown command", '{"ID":1,"Command":"drop"}\n'],
  ["an id that is too short", '{"ID":1,"Command":"get","ActionID":"AAAA"}\n'],
  ["an id that names a path", '{"ID":1,"Command":"get","ActionID":"../../etc/passwd"}\n'],
  [
    "a negative size",
    `{"ID":1,"Command":"put","ActionID":"${id(1)}","OutputID":"${id(2)}","BodySize":-1}\n`,
  ],
  [
    "a body that is no string",
    `{"ID":1,"Command":"put","ActionID":"${id(1)}","OutputID":"${id(2)}","BodySize":3}\n{}"AAAA"\n`,
  ],
  [
    "a body without an end",
    `{"ID":1,"Command":"put","ActionID":"${id(1)}","OutputID":"${id(2)}","BodySize":3}\n"AAAA`,
  ],
  ...["AA A", "AAA", "A=AA", "AA==AAAA", "\u00e4AAA"].map((body) => [
    `a body that is not base64 (${body})`,
    `{"ID":1,"Command":"put","ActionID":"${id(1)}","OutputID":"${id(2)}","BodySize":3}\n"${body}"\n`,
  ]),
  ["a line without an end", "x".repeat(100_000)],
])("%s is not the protocol", async (_, text) => {
  await expect(readAll(text, 1_000)).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("not what a go command sends"),
  });
});
