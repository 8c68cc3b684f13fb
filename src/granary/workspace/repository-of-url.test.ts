import { expect, test } from "vitest";
import { repositoryName } from "#graphs/repository-name.ts";
import { repositoryOfUrl } from "./repository-of-url.ts";

const addresses = [
  ["https://user:token@example.org/owner/name.git", "owner/name"],
  ["https://example.org/owner/name/", "owner/name"],
  ["ssh://git@example.org:2222/owner/name.git", "owner/name"],
  ["git@example.org:owner/name.git", "owner/name"],
  ["https://example.org/group/sub/name.git?x=1#y", "sub/name"],
  ["/srv/git/name.git", "name"],
  ["file:///srv/git/name/.git", "name"],
  ["../name", "name"],
  ["https://example.org/o wner/na$me", "o-wner/na-me"],
  ["", "repository"],
] as const;

test.each(addresses)("%s is %s", (url, name) => {
  expect(repositoryOfUrl(url)).toBe(name);
});

test("the farm gives each of them the same name", () => {
  expect(addresses.map(([url]) => repositoryOfUrl(url))).toEqual(
    addresses.map(([url]) => repositoryName(url)),
  );
});

test("ssh's short form needs no user", () => {
  expect(repositoryOfUrl("forge:owner/name.git")).toBe("owner/name");
});
