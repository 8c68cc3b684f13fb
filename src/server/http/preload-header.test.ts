import { expect, test } from "vitest";
import { assetsOf, preloadHeader } from "./preload-header.ts";

const request = (minutes: string) =>
  `</api/v1/workers/timeline?minutes=${minutes}>; rel=preload; as=fetch; crossorigin`;

test.each([
  { path: "/workers/timeline", query: {}, expected: request("60") },
  { path: "/workers/timeline", query: { minutes: "15" }, expected: request("15") },
  { path: "/workers/timeline", query: { minutes: '1>; x="' }, expected: undefined },
  {
    path: "/graphs/76735caf-cc6f/jobs/test",
    query: {},
    expected: "</api/v1/graphs/76735caf-cc6f/jobs/test/page>; rel=preload; as=fetch; crossorigin",
  },
  { path: "/graphs/76735caf-cc6f/jobs/a%3E", query: {}, expected: undefined },
  { path: "/graphs/76735caf-cc6f/jobs/test/log", query: {}, expected: undefined },
  { path: "/workers", query: {}, expected: undefined },
])("the document of $path with $query names the request $expected", ({ path, query, expected }) => {
  expect(preloadHeader({ path, query, assets: undefined })).toBe(expected);
});

test("the document of a page names the script of its group", () => {
  const assets = assetsOf('<script type="module" src="/assets/0123abcd/first.js"></script>');
  const header = (path: string) => preloadHeader({ path, query: {}, assets });

  expect(header("/")).toBe("</assets/0123abcd/commits.js>; rel=modulepreload");
  expect(header("/workers/timeline")).toBe(
    `${request("60")}, </assets/0123abcd/workers.js>; rel=modulepreload`,
  );
  expect(header("/no-such-page")).toBeUndefined();
});
