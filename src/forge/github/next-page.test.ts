import { expect, test } from "vitest";
import { nextPage } from "./next-page.ts";

const api = "https://api.github.com";

test.each([
  [
    "the next of several",
    '<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?page=3>; rel="next"',
    "https://api.github.com/x?page=3",
  ],
  [
    "one without quotes",
    "<https://api.github.com/x?page=3>; rel=next",
    "https://api.github.com/x?page=3",
  ],
  ["none on the last page", '<https://api.github.com/x?page=1>; rel="first"', undefined],
  ["none without the header", undefined, undefined],
  [
    "none at another host, whose owner would get our token",
    '<https://evil.example.org/x?page=3>; rel="next"',
    undefined,
  ],
  [
    "none at a host that begins like the API",
    '<https://api.github.com.evil.example.org/x>; rel="next"',
    undefined,
  ],
  [
    "none with a name in front of the host",
    '<https://api.github.com@evil.example.org/x>; rel="next"',
    undefined,
  ],
  ["none that climbs out of the API", '<https://api.github.com:444/x>; rel="next"', undefined],
  ["none that is not a URL", '<x?page=2>; rel="next"', undefined],
])("takes %s", (_, link, expected) => {
  expect(nextPage(link, api)).toBe(expected);
});

test("below an Enterprise Server's API, an address outside of it is not followed", () => {
  const link = '<https://ghe.example.org/api/v3/../../evil>; rel="next"';

  expect(nextPage(link, "https://ghe.example.org/api/v3")).toBeUndefined();
});
