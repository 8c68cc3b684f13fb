import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forgeKinds } from "../forge-kinds.ts";
import { repositoryKeys } from "../same-repository.ts";

const key = repositoryKeys(
  forgeKinds,
  ["https://ghe.example/octo/demo", "http://127.0.0.1:8080/octo/demo.git"].map((url) => ({
    kind: "github",
    url,
  })),
);
const host = fc.constantFrom("github.com", "ghe.example");
const owner = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const name = fc
  .stringMatching(/^[a-z0-9._-]{1,12}$/)
  .filter((each) => !/^\.{1,2}$|\.git$/.test(each));
const cases = fc.infiniteStream(fc.boolean());

/** Changes some letters to upper case, as people may write them. */
const cased = (text: string, large: { next(): { value?: boolean } }) =>
  text
    .split("")
    .map((letter) => (large.next().value === true ? letter.toUpperCase() : letter))
    .join("");

const forms = [
  (at: string, of: string) => `https://${at}/${of}`,
  (at: string, of: string) => `https://${at}:443/${of}`,
  (at: string, of: string) => `https://x-access-token:ghs_abc@${at}/${of}`,
  (at: string, of: string) => `http://${at}/${of}`,
  (at: string, of: string) => `ssh://git@${at}/${of}`,
  // The displayed form, without credentials.
  (at: string, of: string) => `ssh://${at}/${of}`,
  (at: string, of: string) => `ssh://git@${at}:22/${of}`,
  (at: string, of: string) => `git@${at}:${of}`,
  (at: string, of: string) => `git@${at}:/${of}`,
];
const ends = ["", "/", ".git", ".git/", "//"];

describe("of one repository at GitHub", () => {
  test("all addresses have the same key, in any spelling", () => {
    fc.assert(
      fc.property(
        host,
        owner,
        name,
        fc.constantFrom(...forms),
        fc.constantFrom(...ends),
        cases,
        (at, by, of, form, end, large) => {
          const written = `${form(cased(at, large), cased(`${by}/${of}`, large))}${end}`;

          expect(key(written)).toBe(key(`https://${at}/${by}/${of}`));
          expect(key(written)).toBe(`github ${at}/${by}/${of}`);
        },
      ),
    );
  });

  test("also with a port of its own", () => {
    expect(key("http://127.0.0.1:8080/Octo/Demo")).toBe(key("http://127.0.0.1:8080/octo/demo.git"));
    expect(key("http://127.0.0.1:8081/octo/demo")).not.toBe(key("http://127.0.0.1:8080/octo/demo"));
  });
});

test("two repositories never have the same key", () => {
  fc.assert(
    fc.property(
      fc.tuple(host, owner, name),
      fc.tuple(host, owner, name),
      fc.constantFrom(...forms),
      fc.constantFrom(...forms),
      (one, other, form, otherForm) => {
        fc.pre(one.join("/") !== other.join("/"));

        expect(key(form(one[0], `${one[1]}/${one[2]}`))).not.toBe(
          key(otherForm(other[0], `${other[1]}/${other[2]}`)),
        );
      },
    ),
  );
});

test.each([
  "https://github.com.evil.example/octo/demo",
  "https://evil.example/github.com/octo/demo",
  "https://github.com@evil.example/octo/demo",
  "https://x@github.com@evil.example/octo/demo",
  "https://evil.example@x@github.com/octo/demo",
  "https://evil.example\\@github.com/octo/demo",
  "https://github.com\\@evil.example/octo/demo",
  "https://github.com:443@evil.example/octo/demo",
  "https://github.com:8443/octo/demo",
  "https://g\u0131thub.com/octo/demo",
  "https://github.com./octo/demo",
  "https://www.github.com/octo/demo",
  "https://githubacom/octo/demo",
  "https://github.com/octo/demo/../../evil/demo",
  "https://github.com/evil/..",
  "https://github.com/octo%2Fdemo",
  "https://github.com/octo/demo%2e%2e",
  "https://github.com/octo/demo?x=.git",
  "https://github.com/octo/demo#x",
  "https://github.com/octo/demo/tree",
  "https://github.com/octo/demo\n",
  " https://github.com/octo/demo",
  "ssh://mallory@github.com/octo/demo",
  "ssh://git@github.com:2222/octo/demo",
  "ssh://git@github.com.evil/octo/demo",
  "git://github.com/octo/demo",
  "mallory@github.com:octo/demo",
  "git@github.com:octo/demo/x",
  "git@evil:github.com/octo/demo",
  "file:///github.com/octo/demo",
  "/github.com/octo/demo",
  "github.com/octo/demo",
])("what only looks like it is another: %j", (address) => {
  expect(key(address)).not.toBe(key("https://github.com/octo/demo"));
});

test("elsewhere, addresses with more than different endings have different keys", () => {
  expect(key("https://git.example/a/b.git")).toBe(key("https://git.example/a/b/"));
  expect(key("https://git.example/a/B")).not.toBe(key("https://git.example/a/b"));
  expect(key("git@git.example:a/b")).not.toBe(key("https://git.example/a/b"));
  expect(key("https://git.example/a/b")).not.toBe(key("https://github.com/a/b"));
});

test("any text has a key, within a short time", () => {
  const before = process.cpuUsage();
  for (const text of ["git@".repeat(20_000), `https://${"a".repeat(50_000)}`, "/".repeat(50_000)]) {
    key(text);
  }
  fc.assert(fc.property(fc.string(), (text) => key(text).length > 0));
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
