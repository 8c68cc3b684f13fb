import assert from "node:assert/strict";
import type { HostileCase, HostileSuite } from "./case.ts";
import { jobTemplateSuite } from "./job-templates.ts";
import { submit, type Templates } from "./template-attempts.ts";

type Case = HostileCase<Templates>;

const digest = `sha256:${"a".repeat(64)}`;

/** Names in `image` that must be refused when a graph is submitted. As YAML. */
const names: readonly (readonly [name: string, yaml: string])[] = [
  ["that climbs", '"../../etc"'],
  ["that climbs in a registry", '"ghcr.io/../../v2/other"'],
  ["with capitals", '"Debian"'],
  ["with a space", '"debian 12"'],
  ["with a line break", '"debian\\n:12"'],
  ["with NUL", '"debian\\0"'],
  ["with two digests", `"a@${digest}@${digest}"`],
  ["with a digest of another kind", `"a@sha512:${"a".repeat(128)}"`],
  ["with a short digest", '"a@sha256:abc"'],
  ["with a digest in capitals", `"a@sha256:${"A".repeat(64)}"`],
  ["with a user and a password", '"user:password@ghcr.io/a"'],
  ["of a web page", '"https://ghcr.io/a/b"'],
  ["of a file", '"file:///etc/passwd"'],
  ["of an archive", '"oci-archive:/tmp/x.tar"'],
  ["of the machine", '"docker-daemon:debian:12"'],
  ["with port 0", '"localhost:0/a"'],
  ["with port 99999", '"localhost:99999/a"'],
  ["with a tag that climbs", '"debian:../12"'],
  ["with a tag of 200 letters", `"debian:${"a".repeat(200)}"`],
  ["of 2,000 letters", `"${"a".repeat(2_000)}"`],
  ["with an option", '"--privileged"'],
  ["with a query", '"debian?x=1"'],
  ["with a fragment", '"debian#x"'],
  ["with an encoded slash", '"a%2fb"'],
  ["with letters that look alike", '"d\\u0435bian"'],
  ["of IPv6", '"[::1]:5000/a"'],
  ["that is empty", '""'],
  ["that is a number", "12"],
  ["that is a list", "[debian]"],
  ["that is a map", "{ name: debian }"],
];

export const imageNameSuite: HostileSuite<Templates> = {
  interface: "names of container images",
  atLeast: 30,
  cases: names.map(
    ([name, yaml]): Case => ({
      name: `an image ${name}`,
      async run(farm) {
        const text = `version: 1\njobs:\n  a:\n    commands: x\n    inputs: []\n    image: ${yaml}\n`;
        const { status, text: said } = await submit(farm, { definitions: { "x.yml": text } });
        assert.equal(status, 400, said);
        // The author is told where.
        assert.match(said, /x\.yml:6\b|"line":6\b|"image"/);
      },
    }),
  ),
  open: (options) => jobTemplateSuite.open(options),
};
