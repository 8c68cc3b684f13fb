import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { sizeDelimitedEncode } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WorkRequestSchema, WorkResponseSchema } from "#proto/blaze/worker/worker_protocol_pb.ts";
import { encodeRequest, ProtocolError, ResponseReader } from "./worker-protocol.ts";

const response = create(WorkResponseSchema, { exitCode: 3, output: "é".repeat(100) });
const asProto = Buffer.from(sizeDelimitedEncode(WorkResponseSchema, response));
const asJson = Buffer.from(`${toJsonString(WorkResponseSchema, response)}\n`);

test("a request has the length and the bytes of Bazel's message", () => {
  const inputs = [{ path: "a/b", digest: "12ab" }];
  const args = ["x".repeat(200), "y"];

  const encoded = encodeRequest("proto", { arguments: args, inputs });

  const message = create(WorkRequestSchema, {
    arguments: args,
    inputs: [{ path: "a/b", digest: Buffer.from("12ab") }],
  });
  expect(encoded).toEqual(Buffer.from(sizeDelimitedEncode(WorkRequestSchema, message)));
});

test("a request in JSON is one line, with the digest as Bazel writes it", () => {
  const inputs = [{ path: "a", digest: "12ab" }];

  const line = encodeRequest("json", { arguments: ["two\nlines"], inputs }).toString();

  expect(line.split("\n")).toHaveLength(2);
  expect(JSON.parse(line)).toEqual({
    arguments: ["two\nlines"],
    inputs: [{ path: "a", digest: Buffer.from("12ab").toString("base64") }],
  });
});

test.each([
  ["proto", asProto],
  ["json", asJson],
] as const)("a response in %s is read from any pieces", (protocol, bytes) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }), (sizes) => {
      const reader = new ResponseReader(protocol);
      const found = [];
      for (let at = 0, n = 0; at < bytes.byteLength; n++) {
        const size = sizes[n % sizes.length] ?? 1;
        const read = reader.push(bytes.subarray(at, at + size));
        if (read !== undefined) found.push(read);
        at += size;
      }
      expect(found).toEqual([response]);
      expect(reader.hasMore).toBe(false);
    }),
  );
});

test.each([
  ["a length without end", "proto", Buffer.alloc(10, 0xff)],
  ["a length above the limit", "proto", Buffer.from([0x80, 0x80, 0x80, 0x80, 0x0f])],
  ["bytes that are no message", "proto", Buffer.from([2, 0xff, 0xff])],
  ["a line above the limit", "json", Buffer.alloc(101, "x")],
  ["a line above the limit with its end", "json", Buffer.from(`"${"x".repeat(101)}"\n`)],
  ["text that is no response", "json", Buffer.from("[1]\n")],
  ["an empty line", "json", Buffer.from("\n")],
  ["the id of another request", "json", Buffer.from('{"requestId": 1}\n')],
] as const)("%s is an error of the protocol", (_, protocol, bytes) => {
  const reader = new ResponseReader(protocol, 100);

  expect(() => reader.push(bytes)).toThrow(ProtocolError);
});

test("any bytes give a response, an error of the protocol, or wait for more", () => {
  fc.assert(
    fc.property(fc.constantFrom("json", "proto"), fc.uint8Array(), (protocol, bytes) => {
      const reader = new ResponseReader(protocol, 50);
      expect(failureOf(() => reader.push(Buffer.from(bytes))) ?? "none").toSatisfy(
        (reason) => reason === "none" || reason instanceof ProtocolError,
      );
    }),
  );
});

function failureOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (reason) {
    return reason;
  }
}

test("further bytes after a response are noticed", () => {
  const reader = new ResponseReader("proto");
  const empty = toBinary(WorkResponseSchema, create(WorkResponseSchema, {}));

  expect(reader.push(Buffer.from([empty.byteLength, ...empty, 0]))).toBeDefined();
  expect(reader.hasMore).toBe(true);
});
