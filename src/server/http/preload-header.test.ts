import { expect, test } from "vitest";
import { preloadHeader } from "./preload-header.ts";

const header = (minutes: string) =>
  `</api/v1/workers/timeline?minutes=${minutes}>; rel=preload; as=fetch; crossorigin`;

test.each([
  { path: "/workers/timeline", query: {}, expected: header("60") },
  { path: "/workers/timeline", query: { minutes: "15" }, expected: header("15") },
  { path: "/workers/timeline", query: { minutes: '1>; x="' }, expected: undefined },
  { path: "/workers", query: {}, expected: undefined },
])("the document of $path with $query names the request $expected", (page) => {
  expect(preloadHeader(page.path, page.query)).toBe(page.expected);
});
