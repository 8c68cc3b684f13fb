import { describe, expect, test } from "vitest";
import { type FarmAddress, type RequestOrigin, whyForged } from "./forged-request.ts";

const here: FarmAddress = { url: new URL("http://127.0.0.1:8980"), isConfigured: false };
const published: FarmAddress = { url: new URL("https://farm.example"), isConfigured: true };
const ours: RequestOrigin = {
  method: "POST",
  host: "127.0.0.1:8980",
  origin: "http://127.0.0.1:8980",
  fetchSite: "same-origin",
  csrf: "word",
};

describe("what a page of ours sends is taken", () => {
  test.each<[string, Partial<RequestOrigin>, FarmAddress]>([
    ["where the farm listens", {}, here],
    [
      "under another of its names",
      { host: "localhost:8980", origin: "http://localhost:8980" },
      here,
    ],
    [
      "behind a proxy that ends TLS",
      { host: "farm.example", origin: "https://farm.example" },
      here,
    ],
    [
      "behind one that names the usual port",
      { host: "farm.example:443", origin: "https://farm.example" },
      here,
    ],
    [
      "at its published address, whatever a proxy makes of the host",
      { origin: "https://farm.example" },
      published,
    ],
    ["by a browser that does not say from which site", { fetchSite: undefined }, here],
  ])("%s", (_, request, farm) => {
    expect(whyForged({ ...ours, ...request }, farm, "word")).toBeUndefined();
  });
});

describe("what may be another site's is not", () => {
  test.each<[string, Partial<RequestOrigin>, FarmAddress, RegExp]>([
    ["of another origin", { origin: "https://evil.example" }, here, /another address/],
    ["of another port", { origin: "http://127.0.0.1:8981" }, here, /another address/],
    [
      "of an origin of no scheme of ours",
      { origin: "file://127.0.0.1:8980" },
      here,
      /another address/,
    ],
    ["without an origin", { origin: undefined }, here, /\(Origin\)/],
    ["with an empty origin", { origin: "" }, here, /another address/],
    ["of another subdomain", { fetchSite: "same-site" }, here, /another site \(same-site\)/],
    [
      "of where it listens, when it is published elsewhere",
      {},
      published,
      /those of https:\/\/farm\.example/,
    ],
    [
      "in the clear, when it is published with TLS",
      { origin: "http://farm.example" },
      published,
      /those of https/,
    ],
    ["without the word", { csrf: undefined }, here, /X-Grange-Csrf/],
    ["with another word", { csrf: "worb" }, here, /belongs to another session/],
    ["with a longer word", { csrf: "word-" }, here, /belongs to another session/],
  ])("%s", (_, request, farm, why) => {
    expect(whyForged({ ...ours, ...request }, farm, "word")).toMatch(why);
  });

  test.each(["PUT", "DELETE", "PATCH", "post", "LINK"])("by %s", (method) => {
    const request = { ...ours, method, csrf: undefined };
    expect(whyForged(request, here, "word")).toMatch(/X-Grange-Csrf/);
  });
});

test("reading needs no word: other sites cannot read the answer", () => {
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    expect(
      whyForged({ ...ours, method, origin: "https://evil.example" }, here, "x"),
    ).toBeUndefined();
  }
});
