import { expect, test } from "vitest";
import { imageName, parseImageReference } from "./image-reference.ts";

const digest = `sha256:${"ab".repeat(32)}`;

test.each([
  ["debian", "docker.io/library/debian:latest"],
  ["docker://debian:12", "docker.io/library/debian:12"],
  ["index.docker.io/library/debian", "docker.io/library/debian:latest"],
  ["docker://gcr.io/a/b/c:v1.2_x-y", "gcr.io/a/b/c:v1.2_x-y"],
  ["localhost/a", "localhost/a:latest"],
  ["localhost:5000/a", "localhost:5000/a:latest"],
  ["LOCALHOST:5000/a", "localhost:5000/a:latest"],
  ["user/tool", "docker.io/user/tool:latest"],
  [`docker://ghcr.io/a/b@${digest}`, `ghcr.io/a/b@${digest}`],
  [`ghcr.io/a/b:v1@${digest}`, `ghcr.io/a/b:v1@${digest}`],
])("%s is %s", (text, name) => {
  expect(imageName(parseImageReference(text))).toBe(name);
});

test.each([
  ["", "path"],
  ["docker://", "path"],
  ["a/../b", "path"],
  ["/etc/passwd", "path"],
  ["ghcr.io/", "path"],
  ["ghcr.io//a", "path"],
  ["UPPER/case", "path"],
  ["a b", "path"],
  ["a\nb", "path"],
  ["a\0b", "path"],
  ["a:ta g", "tag"],
  ["a:", "tag"],
  [`a:${"t".repeat(129)}`, "tag"],
  ["a@sha256:12", "digest"],
  [`a@md5:${"ab".repeat(16)}`, "digest"],
  [`a@${digest.toUpperCase()}`, "digest"],
  [`a@${digest}@${digest}`, "two digests"],
  ["https://ghcr.io/a", "docker://"],
  ["docker://docker://a", "docker://"],
  ["-x.io/a", "host"],
  ["a..b/c", "host"],
  ["registry.2/c", "host"],
  ["host.io:99999/c", "host"],
  ["user:password@ghcr.io/a", "digest"],
  ["ghcr.io?x=/a", "host"],
  [`a${"/a".repeat(200)}`, "path"],
  ["x".repeat(5_000), "1024 characters"],
])("%s names no image", (text, why) => {
  expect(() => parseImageReference(text)).toThrow(why);
});
