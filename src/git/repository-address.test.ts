import { expect, test } from "vitest";
import { parseRepositoryAddress, withoutPassword } from "./repository-address.ts";

test.each([
  ["/srv/repo", "/srv/repo"],
  ["repo", "/somewhere/repo"],
  ["../repo", "/repo"],
  [".", "/somewhere"],
  ["./a:b", "/somewhere/a:b"],
  ["file:///srv/a%20b", "/srv/a b"],
])("%j is a local path", (text, path) => {
  expect(parseRepositoryAddress(text, "/somewhere")).toEqual({ kind: "local", path });
});

test.each([
  "https://example.org/a/b.git",
  "http://localhost:8080/a",
  "ssh://git@example.org:2222/a",
  "git://example.org/a",
  "git@example.org:a/b.git",
  "example.org:a/b",
  "git@[::1]:a",
])("%j is a URL", (url) => {
  expect(parseRepositoryAddress(url, "/somewhere")).toEqual({ kind: "remote", url });
});

test.each([
  "",
  "-x",
  "--upload-pack=touch /tmp/x",
  "ext::sh -c touch% /tmp/x",
  "EXT::sh",
  "fd::7",
  "ftp://example.org/a",
  "javascript://example.org/a",
  "ssh://-oProxyCommand=x/a",
  "-oProxyCommand=x:a",
  "git@-oProxyCommand=x:a",
  "git@example.org:-x",
  "https://",
  "file://other-host/a",
  "a\nb",
  "a\0b",
])("%j is refused", (text) => {
  expect(() => parseRepositoryAddress(text, "/somewhere")).toThrow(
    "not an address of a repository",
  );
});

test("a password is not shown", () => {
  expect(withoutPassword("https://me:secret@example.org/a")).toBe("https://example.org/a");
  expect(withoutPassword("https://me:se@cret@example.org/a@b")).toBe("https://example.org/a@b");
  expect(() => parseRepositoryAddress("ftp://me:secret@example.org/a", "/")).toThrow(
    '"ftp://example.org/a"',
  );
});
