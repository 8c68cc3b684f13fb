import { expect, test } from "vitest";
import { judgeS3Answer, textOf } from "./judge-s3-answer.ts";

const xml = { "content-type": "application/xml" };
const errorOf = (code: string) =>
  Buffer.from(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`);

test.each([
  [200, "", "ok"],
  [204, "", "ok"],
  [404, "NoSuchKey", "absent"],
  [404, "NoSuchUpload", "absent"],
  [404, "NoSuchBucket", "refused"],
  [416, "InvalidRange", "absent"],
  [403, "AccessDenied", "refused"],
  [301, "PermanentRedirect", "refused"],
  [400, "InvalidArgument", "refused"],
  [400, "XAmzContentSHA256Mismatch", "retry"],
  [409, "OperationAborted", "retry"],
  [429, "TooManyRequests", "retry"],
  [500, "InternalError", "retry"],
  [503, "SlowDown", "retry"],
])("an answer with status %i %s is %s", (status, code, kind) => {
  const body = code === "" ? Buffer.alloc(0) : errorOf(code);
  expect(judgeS3Answer("PUT", { status, headers: xml, body }).kind).toBe(kind);
});

test("an error in the body of a completed upload counts, and one in the bytes of an object does not", () => {
  const answer = { status: 200, headers: xml, body: errorOf("InternalError") };

  expect(judgeS3Answer("POST", answer).kind).toBe("retry");
  expect(judgeS3Answer("GET", answer).kind).toBe("ok");
});

test("a wrong region is named", () => {
  const headers = { ...xml, "x-amz-bucket-region": "eu-west-1" };

  expect(
    judgeS3Answer("GET", { status: 301, headers, body: errorOf("PermanentRedirect") }),
  ).toEqual({
    kind: "refused",
    problem: "301 PermanentRedirect m; the bucket is in eu-west-1",
  });
});

test("the text of an element is without escapes", () => {
  expect(textOf("<A><UploadId>a&amp;lt;b</UploadId></A>", "UploadId")).toBe("a&lt;b");
  expect(textOf("<A></A>", "UploadId")).toBeUndefined();
});
