import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { ReadResponseSchema, WriteRequestSchema } from "#proto/google/bytestream/bytestream_pb.ts";
import { dataOfReadResponse, readResponse, writeRequest } from "./byte-stream-wire.ts";
import { backoffMs } from "./connection.ts";
import { FrameCutter, framed, type Payload } from "./frame.ts";
import { decodeGrpcMessage, encodeGrpcMessage } from "./grpc-message.ts";
import { formatGrpcTimeout, parseGrpcTimeout } from "./grpc-timeout.ts";
import { decodeBinaryValue, encodeBinaryValue } from "./metadata.ts";
import { endOf, statusHeaders } from "./status.ts";

const joined = (payload: Payload) =>
  payload instanceof Uint8Array ? payload : Buffer.concat([...payload]);

test.each([1, 2, 3, 7, 64, 1_000])("cuts chunks of %i bytes into the same messages", (size) => {
  const messages = [0, 1, 5, 300].map((length) => Buffer.alloc(length, length));
  const wire = Buffer.concat(messages.flatMap((message) => framed(message)));
  const cutter = new FrameCutter(300);

  const cut: Buffer[] = [];
  for (let at = 0; at < wire.length; at += size) {
    for (const frame of cutter.push(wire.subarray(at, at + size)))
      cut.push(Buffer.from(frame.bytes));
  }

  expect(cut).toEqual(messages);
  expect(cutter.isBetweenMessages()).toBe(true);
});

test("refuses a message by its length, before its bytes are here", () => {
  const [header] = framed(Buffer.alloc(301));

  expect(() => new FrameCutter(300).push((header ?? Buffer.alloc(0)).subarray(0, 5))).toThrow(
    /over the limit/,
  );
});

test("ByteStream's messages by hand are those of protobuf", () => {
  const data = Buffer.from("some data");
  const request = { resourceName: "blobs/x", writeOffset: 5_000_000_000, finishWrite: true, data };

  const read = joined(readResponse(data));
  const written = fromBinary(WriteRequestSchema, joined(writeRequest(request)));

  expect(Buffer.from(fromBinary(ReadResponseSchema, read).data)).toEqual(data);
  expect(Buffer.from(dataOfReadResponse(read))).toEqual(data);
  expect(written).toMatchObject({
    resourceName: "blobs/x",
    writeOffset: 5_000_000_000n,
    finishWrite: true,
  });
});

test.each([
  ["100m", 100],
  ["2S", 2_000],
  ["1H", 3_600_000],
  ["5u", 0.005],
  ["123456789m", undefined],
  ["5", undefined],
  ["-5m", undefined],
])("the timeout %s is %s ms", (text, ms) => {
  expect(parseGrpcTimeout(text)).toBe(ms);
});

test("long timeouts fit into eight digits", () => {
  expect(formatGrpcTimeout(99_999_999)).toBe("99999999m");
  expect(formatGrpcTimeout(100_000_000)).toBe("100000S");
});

test.each(["plain", "50 %", "line\nbreak", "✓ done", ""])("the message %j survives", (text) => {
  const encoded = encodeGrpcMessage(text);

  expect(encoded).toMatch(/^[\x20-\x7e]*$/);
  expect(decodeGrpcMessage(encoded)).toBe(text);
});

test("a damaged escape stays as it is", () => {
  expect(decodeGrpcMessage("50%zz %")).toBe("50%zz %");
});

test("bytes in metadata survive, padded or not, and the first of several counts", () => {
  const bytes = Buffer.from([1, 2, 3, 4]);

  expect(encodeBinaryValue(bytes)).toBe("AQIDBA");
  expect(decodeBinaryValue("AQIDBA")).toEqual(bytes);
  expect(decodeBinaryValue("AQIDBA==, AAAA")).toEqual(bytes);
});

test("a Fault survives its way through trailers", () => {
  const end = endOf(statusHeaders(new Fault("not_found", "no blob ✓")));

  expect(end).toMatchObject({ kind: "failed", fault: { code: "not_found", message: "no blob ✓" } });
  expect(endOf({ "grpc-status": "0" })).toEqual({ kind: "ok" });
  expect(endOf({})).toBeUndefined();
});

test("waits double up to the longest", () => {
  expect([1, 2, 3, 50].map((failures) => backoffMs(failures, 100, 1_000, 0.5))).toEqual([
    100, 200, 400, 1_000,
  ]);
});
