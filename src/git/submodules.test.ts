import { expect, test } from "vitest";
import { submoduleAddress } from "./submodules.ts";

test.each([
  ["https://host/team/app.git", "../lib.git", "https://host/team/lib.git"],
  ["https://host/team/app", "../../other/lib", "https://host/other/lib"],
  ["https://host/team/app/", "./lib", "https://host/team/app/lib"],
  ["git@host:team/app.git", "../lib.git", "git@host:team/lib.git"],
  ["git@host:app.git", "../lib.git", "git@host:lib.git"],
  ["/srv/git/app", "../lib", "/srv/git/lib"],
  ["https://host/team/app", "https://other/lib.git", "https://other/lib.git"],
  ["https://host/team/app", "/srv/git/lib", "/srv/git/lib"],
])("of %s, %s is %s", (repository, url, address) => {
  expect(submoduleAddress(repository, url)).toBe(address);
});
